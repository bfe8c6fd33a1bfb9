import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { ERRORS } from '@svc/devnet/providers/mongodb/faults'
import { GridFSBucket, MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import { openMongodb } from '../../src/mongodb/open.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { ABOUT, command, MIB, openTestMongodb, settingsOf, type TestMongodb, UNAVAILABLE } from './start-mongodb.ts'

it('the MongoDB driver writes objects that any GridFS tool can read, with a journaled majority write concern', async () => {
  const at = await openTestMongodb()
  const concerns = new Map<string, unknown>()
  at.watch(({ name, body }) => {
    if (['insert', 'update', 'delete'].includes(name)) concerns.set(name, body.writeConcern)
  })
  const bytes = randomBytes(2 * MIB + 5)
  const { id } = await keep(at.provider, bytes)
  const client = new MongoClient(at.server.url)
  onTestFinished(() => client.close())
  const official = new GridFSBucket(client.db('svc'), { bucketName: 'objects' })
  // The types require an ObjectId; the format does not.
  const read = official.openDownloadStream(id as unknown as Parameters<typeof official.openDownloadStream>[0])
  expect((await buffer(read)).equals(bytes)).toBe(true)
  await at.provider.remove({ id, ref: null })
  const majority = { w: 'majority', j: true }
  expect(Object.fromEntries(concerns)).toEqual({ insert: majority, update: majority, delete: majority })
})

it.each([0, MIB])('a write to MongoDB changes nothing of another write of the same id with %i bytes', async (size) => {
  const at = await openTestMongodb()
  const id = newId()
  const second = randomBytes(size)
  async function* pieces() {
    yield randomBytes(2 * MIB)
    while (at.chunks().length < 2) await setImmediate()
    await at.provider.remove({ id, ref: null })
    await keep(at.provider, second, id)
    yield randomBytes(1)
  }
  const source = Readable.from(pieces(), { objectMode: false })
  await expect(at.provider.write(id, source, ABOUT)).rejects.toMatchObject(UNAVAILABLE)
  expect(await fetchBytes(at.provider, { id, ref: null })).toEqual(second)
  expect([at.files().length, at.chunks().length]).toEqual([1, size / MIB])
})

/** Leaves what a crash leaves: removing it fails. */
async function leaveLeftovers(at: TestMongodb): Promise<string> {
  const id = newId()
  async function* pieces() {
    yield randomBytes(3 * MIB)
    throw new Error('gone')
  }
  at.failAlways(({ name }) => name === 'delete', { error: ERRORS.internal })
  await expect(at.provider.write(id, Readable.from(pieces(), { objectMode: false }), ABOUT)).rejects.toThrow('gone')
  at.recover()
  expect([at.files().length, at.chunks().length]).toEqual([1, 3])
  return id
}

it('removing an object from MongoDB also removes leftovers of an interrupted write', async () => {
  const at = await openTestMongodb()
  const id = await leaveLeftovers(at)
  expect(await at.provider.stat({ id, ref: null })).toBeNull()
  expect(await at.provider.remove({ id, ref: null })).toBe('removed')
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

it('the MongoDB driver rejects an id with leftover chunks until they are removed', async () => {
  const at = await openTestMongodb()
  const bytes = randomBytes(MIB)
  const key = await keep(at.provider, bytes)
  at.failAlways(command('delete', 'objects.chunks'), { error: ERRORS.internal })
  await expect(at.provider.remove(key)).rejects.toMatchObject(UNAVAILABLE)
  expect(await at.provider.stat(key)).toBeNull()
  at.recover()
  await expect(keep(at.provider, randomBytes(5), key.id)).rejects.toThrow('an object with this id already exists')
  expect([at.files().length, at.chunks().length]).toEqual([0, 1])
  await at.provider.remove(key)
  expect(await fetchBytes(at.provider, await keep(at.provider, bytes, key.id))).toEqual(bytes)
})

it('the MongoDB driver removes week-old leftovers at the start, and not the chunks of running writes', async () => {
  const at = await openTestMongodb()
  const old = await leaveLeftovers(at)
  const client = new MongoClient(at.server.url)
  onTestFinished(() => client.close())
  const longAgo = new Date(Date.now() - 8 * 24 * 3600 * 1000)
  const files = client.db('svc').collection<{ _id: string }>('objects.files')
  await files.updateOne({ _id: old }, { $set: { uploadDate: longAgo } })
  const fresh = newId()
  await files.insertOne({ _id: fresh, ...{ uploadDate: new Date(), metadata: { write: 'w', isWhole: false } } })
  const kept = await keep(at.provider, Buffer.from('kept'))
  await files.updateOne({ _id: kept.id }, { $set: { uploadDate: longAgo } })
  const reopened = await openMongodb(settingsOf(at.server))
  onTestFinished(() => reopened.close())
  expect(new Set(at.files().map(({ _id }) => _id))).toEqual(new Set([fresh, kept.id]))
  expect(at.chunks()).toMatchObject([{ files_id: kept.id }])
  expect(await fetchBytes(reopened, kept)).toEqual(Buffer.from('kept'))
})
