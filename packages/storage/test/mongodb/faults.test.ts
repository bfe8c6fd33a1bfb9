import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { ERRORS } from '@svc/devnet/providers/mongodb/faults'
import { startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openMongodb } from '../../src/mongodb/open.ts'
import type { ProviderError, StorageProvider } from '../../src/provider.ts'
import { failureOf, readToEnd } from '../failures.ts'
import { fetchBytes, keep, newId, streamOf } from '../objects.ts'
import { ABOUT, CREDENTIALS, command, MIB, openTestMongodb, settingsOf, UNAVAILABLE } from './start-mongodb.ts'

const SHORT = { connectMs: 400, answerMs: 400 }
/** Notices soon that the server is down, and gives a busy machine time to answer. */
const WATCHFUL = { connectMs: 400, answerMs: 10_000, attempts: 3, backoffMs: 200 }
const EVERYTHING = () => true

/** Each way to use the provider. */
function uses(provider: StorageProvider): Promise<unknown>[] {
  const key = { id: newId(), ref: null }
  return [
    keep(provider, randomBytes(2 * MIB)),
    provider.read(key),
    provider.stat(key),
    provider.absent([key]),
    provider.remove(key),
  ]
}

async function expectFailure(provider: StorageProvider, reason: ProviderError['reason']): Promise<void> {
  for (const failure of await Promise.all(uses(provider).map(failureOf))) {
    expect(failure.reason).toBe(reason)
    expect(failure.message).toBe(`the storage provider is ${reason}`)
  }
  expect(await provider.check()).toBe(false)
}

describe('a MongoDB server that is down', () => {
  it('is unavailable, and is used again when it is back', { tags: ['nightly'] }, async () => {
    const at = await openTestMongodb(WATCHFUL)
    const bytes = randomBytes(MIB + 1)
    const key = await keep(at.provider, bytes)
    await at.stop()
    await expectFailure(at.provider, 'unavailable')
    await at.start()
    await expect.poll(() => at.provider.check()).toBe(true)
    expect(await fetchBytes(at.provider, key)).toEqual(bytes)
  })

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

  it('leaves the source paused, so that its owner can answer', { tags: ['nightly'] }, async () => {
    const at = await openTestMongodb(SHORT)
    await at.stop()
    const source = streamOf(randomBytes(5 * MIB))
    await expect(at.provider.write(newId(), source, ABOUT)).rejects.toMatchObject(UNAVAILABLE)
    expect([source.destroyed, source.isPaused()]).toEqual([false, true])
  })

  it('does not disturb a reader when it is back before the next chunk', { tags: ['nightly'] }, async () => {
    const at = await openTestMongodb()
    const bytes = randomBytes(6 * MIB)
    const pieces = (await at.provider.read(await keep(at.provider, bytes)))!.iterator()
    const received = [(await pieces.next()).value]
    await at.stop()
    await at.start()
    for await (const piece of pieces) received.push(piece)
    expect(Buffer.concat(received).equals(bytes)).toBe(true)
  })
})

describe('a MongoDB server that hangs', () => {
  it('times out on every operation', { tags: ['nightly'] }, async () => {
    const at = await openTestMongodb(SHORT)
    at.failAlways(EVERYTHING, 'silence')
    await expectFailure(at.provider, 'unavailable')
  })

  it('times out in the middle of an object, and nothing of it is left', { tags: ['nightly'] }, async () => {
    const at = await openTestMongodb({ connectMs: 10_000, answerMs: 2000 })
    at.failAlways(({ name, body }) => name === 'insert' && isChunk(body.documents, 1), 'silence')
    await expect(keep(at.provider, randomBytes(3 * MIB))).rejects.toMatchObject(UNAVAILABLE)
    expect([...at.files(), ...at.chunks()]).toEqual([])
  })

  it.each(['find', 'getmore'])('fails a read that waits for its answer to %s', { tags: ['nightly'] }, async (name) => {
    const at = await openTestMongodb({ connectMs: 10_000, answerMs: 2000 })
    const key = await keep(at.provider, randomBytes(5 * MIB))
    const stream = (await at.provider.read(key))!
    at.failAlways(command(name, 'objects.chunks'), 'silence')
    await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)
  })
})

it.each([ERRORS.outOfDisk, ERRORS.overQuota])('a MongoDB server without space is full ($codeName)', async (error) => {
  const at = await openTestMongodb()
  const kept = await keep(at.provider, Buffer.from('kept'))
  at.failAlways(({ name, body }) => name === 'insert' && isChunk(body.documents, 2), { error })
  const failure = await failureOf(keep(at.provider, randomBytes(4 * MIB)))
  expect(failure.reason).toBe('full')
  expect(at.files().map(({ _id }) => _id)).toEqual([kept.id])
  expect(at.chunks()).toHaveLength(1)
  expect(await fetchBytes(at.provider, kept)).toEqual(Buffer.from('kept'))
})

describe('a MongoDB server that rejects our credentials', () => {
  it.each(['p%40ss', 'gateway'])('T-31 is closed, and no error contains the password (wrong: %s)', async (right) => {
    const at = await openTestMongodb()
    const settings = { ...settingsOf(at.server), url: at.server.url.replace(right, 'n0tright') }
    const provider = await openMongodb(settings)
    onTestFinished(() => provider.close())
    await expectFailure(provider, 'closed')
    const shown = inspect(await failureOf(provider.stat({ id: newId(), ref: null })), { depth: 20 })
    expect(shown).toContain('Authentication failed')
    for (const secret of ['n0tright', 'w%3Ard', CREDENTIALS.password]) expect(shown).not.toContain(secret)
  })

  it('is closed without credentials, and for a user that may not use the collections', async () => {
    const at = await openTestMongodb()
    const unknownUser = await openMongodb({ ...settingsOf(at.server), url: `mongodb://127.0.0.1:${at.server.port}/` })
    onTestFinished(() => unknownUser.close())
    await expectFailure(unknownUser, 'closed')
    at.failAlways(({ name }) => ['find', 'insert', 'delete'].includes(name), { error: ERRORS.unauthorized })
    await expectFailure(at.provider, 'closed')
  })
})

/** Whether the command inserts the chunk with this number; it contains the documents as bytes. */
function isChunk(documents: unknown, n: number): boolean {
  const number = Buffer.from([0x10, 0x6e, 0x00, n, 0, 0, 0]) // the BSON of `n` as a 32-bit integer
  return Array.isArray(documents) && Buffer.from(documents[0]).subarray(0, 200).includes(number)
}
