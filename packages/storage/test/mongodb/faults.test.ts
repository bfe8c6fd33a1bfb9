import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { ERRORS, type Fault } from '@svc/devnet/providers/mongodb/faults'
import { startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openMongodb } from '../../src/mongodb/open.ts'
import { failureOf } from '../failures.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { CREDENTIALS, command, MIB, openTestMongodb, settingsOf, UNAVAILABLE } from './start-mongodb.ts'

/** Detects soon that the server is down, and gives a busy machine time to answer. */
const WATCHFUL = { connectMs: 400, answerMs: 10_000, attempts: 3, backoffMs: 200 }

describe('a MongoDB server that is down', () => {
  it('does not prevent opening the driver', { tags: ['nightly'] }, async () => {
    const server = await startMongodbServer()
    await server.stop()
    const provider = await openMongodb(settingsOf(server), WATCHFUL)
    onTestFinished(() => provider.close())
    expect(await provider.check()).toBe(false)
    const back = await startMongodbServer({ port: server.port })
    onTestFinished(() => back.stop())
    await expect.poll(() => provider.check()).toBe(true)
    expect(await fetchBytes(provider, await keep(provider, Buffer.from('here')))).toEqual(Buffer.from('here'))
  })
})

it('a MongoDB server that hangs in the middle of an object stores nothing of it', { tags: ['nightly'] }, async () => {
  const at = await openTestMongodb({ connectMs: 10_000, answerMs: 2000 })
  at.failAlways(({ name, body }) => name === 'insert' && isChunk(body.documents, 1), 'silence')
  await expect(keep(at.provider, randomBytes(3 * MIB))).rejects.toMatchObject(UNAVAILABLE)
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

it('a MongoDB server that runs out of space in the middle of an object is full, and stores nothing of it', async () => {
  const at = await openTestMongodb()
  const error = ERRORS.outOfDisk
  at.failAlways(({ name, body }) => name === 'insert' && isChunk(body.documents, 2), { error })
  expect((await failureOf(keep(at.provider, randomBytes(4 * MIB)))).reason).toBe('full')
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

it.each([
  ['with a wrong user', (url: string) => url.replace('gateway', 'n0tright'), 'Authentication failed'],
  ['with a wrong password', (url: string) => url.replace('p%40ss', 'n0tright'), 'Authentication failed'],
  ['without credentials', (url: string) => url.replace(/\/\/.*@/, '//'), 'authentication'],
])('T-139 MongoDB is closed %s, and no error contains the password', async (_, change, why) => {
  const at = await openTestMongodb()
  const provider = await openMongodb({ ...settingsOf(at.server), url: change(at.server.url) })
  onTestFinished(() => provider.close())
  const failure = await failureOf(provider.stat({ id: newId(), ref: null }))
  expect([failure.reason, await provider.check()]).toEqual(['closed', false])
  const shown = inspect(failure, { depth: 20 })
  expect(shown).toContain(why)
  for (const secret of ['n0tright', 'w%3Ard', CREDENTIALS.password]) expect(shown).not.toContain(secret)
})

const WRITES = [
  command('insert', 'objects.files'),
  command('insert', 'objects.chunks'),
  command('update', 'objects.files'),
]

const temporary: Record<string, Fault> = {
  'shuts down': { error: ERRORS.shuttingDown },
  'steps down as the primary': { stepDown: 2 },
  'has not replicated a write': { writeConcernError: ERRORS.notReplicated },
  'has an internal error': { error: ERRORS.internal },
  'cuts the connection': 'cut',
  'succeeds and cuts the connection': 'cut-after',
  'cuts the connection in the middle of its answer': 'cut-answer',
}
it.each(Object.entries(temporary))(
  'the MongoDB driver repeats a request without duplicates when the server %s',
  { tags: ['nightly'] },
  async (_, fault) => {
    const at = await openTestMongodb()
    const seen = new Set<string>()
    at.failAlways(({ name, collection }) => {
      const isNew = !seen.has(name + collection)
      seen.add(name + collection)
      return isNew && collection.startsWith('objects.')
    }, fault)
    const bytes = randomBytes(2 * MIB + 1)
    const key = await keep(at.provider, bytes)
    expect(at.files().map(({ _id }) => _id)).toEqual([key.id])
    expect(at.chunks().map(({ n }) => n)).toHaveLength(3)
    expect((await fetchBytes(at.provider, key))?.equals(bytes)).toBe(true)
    await at.provider.remove(key)
    expect([...at.files(), ...at.chunks()]).toEqual([])
    expect(seen.size).toBeGreaterThanOrEqual(7)
  },
)

it.each<[string, Fault]>([
  ['loses all answers', 'cut-after'],
  ['replicates no write', { writeConcernError: ERRORS.notReplicated }],
])('nothing of an object is left when a MongoDB server %s', { tags: ['nightly'] }, async (_, fault) => {
  const at = await openTestMongodb()
  for (const matches of WRITES) {
    at.failAlways(matches, fault)
    await expect(keep(at.provider, randomBytes(4 * MIB))).rejects.toMatchObject(UNAVAILABLE)
    expect([...at.files(), ...at.chunks()]).toEqual([])
  }
})

it('there is no object when a MongoDB set loses its primary permanently while it is written', {
  tags: ['nightly'],
}, async () => {
  const at = await openTestMongodb({ connectMs: 400 })
  at.failNext(WRITES[2]!, { stepDown: Number.POSITIVE_INFINITY })
  const id = newId()
  await expect(keep(at.provider, randomBytes(10), id)).rejects.toMatchObject(UNAVAILABLE)
  at.failNext(({ name }) => name === 'hello' || name === 'ismaster', { stepDown: 0 })
  await expect.poll(() => at.provider.stat({ id, ref: null }).catch((error) => error)).toBeNull()
  await at.provider.remove({ id, ref: null })
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

/** Whether the command inserts the chunk with this number; it contains the documents as bytes. */
function isChunk(documents: unknown, n: number): boolean {
  const number = Buffer.from([0x10, 0x6e, 0x00, n, 0, 0, 0]) // the BSON of `n` as a 32-bit integer
  return Array.isArray(documents) && Buffer.from(documents[0]).subarray(0, 200).includes(number)
}
