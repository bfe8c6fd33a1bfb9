import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { ERRORS, type Fault } from '@svc/devnet/providers/mongodb/faults'
import { expect, it } from 'vitest'
import { failureOf, readToEnd } from '../failures.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { command, MIB, openTestMongodb, UNAVAILABLE } from './start-mongodb.ts'

const WRITES = [
  command('insert', 'objects.files'),
  command('insert', 'objects.chunks'),
  command('update', 'objects.files'),
]

it('T-31 a failing MongoDB server is unavailable, and only the cause of the error contains its message', async () => {
  const at = await openTestMongodb()
  at.failAlways(() => true, { error: ERRORS.internal })
  const failure = await failureOf(at.provider.stat({ id: newId(), ref: null }))
  expect(failure.reason).toBe('unavailable')
  expect(failure.cause).toMatchObject({ code: 1, message: ERRORS.internal.errmsg })
  expect(failure.message).not.toContain('shard')
})

it('the MongoDB driver sends a failing request three times and no more', async () => {
  const at = await openTestMongodb()
  let requests = 0
  at.failAlways(() => ++requests > 0, { error: ERRORS.internal })
  await failureOf(at.provider.stat({ id: newId(), ref: null }))
  expect(requests).toBe(3)
})

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
  'the MongoDB driver repeats a request when the server %s, and nothing is done twice',
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

it('nothing is written twice when a MongoDB server loses two answers', { tags: ['nightly'] }, async () => {
  const at = await openTestMongodb()
  for (const matches of WRITES) {
    at.failNext(matches, 'cut-after', 'cut-after')
    const bytes = randomBytes(2 * MIB)
    const key = await keep(at.provider, bytes)
    expect((await fetchBytes(at.provider, key))?.equals(bytes)).toBe(true)
    expect(at.files().filter(({ _id }) => _id === key.id)).toHaveLength(1)
    expect(at.chunks().filter(({ files_id }) => files_id === key.id)).toHaveLength(2)
  }
})

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

it('there is no object when a MongoDB set loses its primary for good while it is written', {
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

it('nothing of an object is left when a MongoDB server cuts the connection during the upload', {
  tags: ['nightly'],
}, async () => {
  const at = await openTestMongodb()
  at.server.faults.maxMessageBytes = MIB / 2
  await expect(keep(at.provider, randomBytes(2 * MIB))).rejects.toMatchObject(UNAVAILABLE)
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

it('a read fails when a MongoDB server keeps cutting its answers', { tags: ['nightly'] }, async () => {
  const at = await openTestMongodb()
  const stream = (await at.provider.read(await keep(at.provider, randomBytes(5 * MIB))))!
  await once(stream, 'readable')
  at.failAlways(({ collection }) => collection === 'objects.chunks', 'cut-answer')
  await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)
})
