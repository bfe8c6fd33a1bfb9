import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { ERRORS } from '@svc/devnet/providers/mongodb/faults'
import { GridFSBucket, MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import { openMongodb } from '../../src/mongodb/open.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { ABOUT, command, MIB, openTestMongodb, settingsOf, type TestMongodb, UNAVAILABLE } from './start-mongodb.ts'

it('lets the bytes come and go through the gateway', async () => {
  const { provider } = await openTestMongodb()
  const upload = { contentType: 'text/plain', expiresInSeconds: 60 }
  expect(await provider.uploadTarget(newId(), upload)).toBeNull()
  expect(await provider.downloadTarget({ id: newId(), ref: null }, upload)).toBeNull()
})

it('shows nothing of an object before it is whole', async () => {
  const at = await openTestMongodb()
  const id = newId()
  const [reached, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  async function* pieces() {
    yield randomBytes(3 * MIB)
    yield randomBytes(1)
    reached.resolve()
    await finish.promise
  }
  const written = at.provider.write(id, Readable.from(pieces(), { objectMode: false }), ABOUT)
  await reached.promise
  expect(await at.provider.stat({ id, ref: null })).toBeNull()
  expect(await at.provider.read({ id, ref: null })).toBeNull()
  expect(await at.provider.absent([{ id, ref: null }])).toEqual(new Set([id]))
  expect(at.files()).toMatchObject([{ _id: id, metadata: { isWhole: false } }])
  finish.resolve()
  expect(await written).toEqual({ size: 3 * MIB + 1, ref: null })
  expect(at.files()).toMatchObject([{ _id: id, length: 3 * MIB + 1, metadata: { isWhole: true } }])
})

it('keeps objects so that any GridFS tool reads them, each write acknowledged by a majority and its journals', async () => {
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
  // The types want an ObjectId, and the format does not.
  const read = official.openDownloadStream(id as unknown as Parameters<typeof official.openDownloadStream>[0])
  expect((await buffer(read)).equals(bytes)).toBe(true)
  await at.provider.remove({ id, ref: null })
  const majority = { w: 'majority', j: true }
  expect(Object.fromEntries(concerns)).toEqual({ insert: majority, update: majority, delete: majority })
})

it('lets one of several writers of an id win, of whom nothing but his object is left', async () => {
  const at = await openTestMongodb()
  const id = newId()
  const writes = Array.from({ length: 8 }, (_, i) => keep(at.provider, Buffer.alloc(2 * MIB, i), id).then(() => i))
  const winners = (await Promise.allSettled(writes)).flatMap((write) =>
    write.status === 'fulfilled' ? write.value : [],
  )
  expect(winners).toHaveLength(1)
  expect(Buffer.alloc(2 * MIB, winners[0]).equals((await fetchBytes(at.provider, { id, ref: null }))!)).toBe(true)
  expect([at.files().length, at.chunks().length]).toEqual([1, 2])
})

it('refuses to write an id again, and leaves the source so that its owner can answer', async () => {
  const at = await openTestMongodb()
  const { id } = await keep(at.provider, Buffer.from('first'))
  const server = createServer(async (request, response) => {
    const failure: unknown = await at.provider.write(id, request, ABOUT).catch((error) => error)
    request.resume()
    response.end(`${failure}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'PUT', body: Buffer.alloc(5 * MIB) })
  expect(await answer.text()).toBe('Error: there is an object with this id, or one on its way')
  expect([at.files().length, at.chunks().length]).toEqual([1, 1])
})

it('leaves nothing at the server of a source that fails half-way', async () => {
  const at = await openTestMongodb()
  async function* pieces() {
    yield randomBytes(4 * MIB)
    throw new Error('no more')
  }
  const source = Readable.from(pieces(), { objectMode: false })
  await expect(at.provider.write(newId(), source, ABOUT)).rejects.toThrow('no more')
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

it('does not bring back an object that is removed while it comes', async () => {
  const at = await openTestMongodb()
  const id = newId()
  async function* pieces() {
    yield randomBytes(3 * MIB)
    await at.provider.remove({ id, ref: null })
    yield randomBytes(3 * MIB)
  }
  const source = Readable.from(pieces(), { objectMode: false })
  await expect(at.provider.write(id, source, ABOUT)).rejects.toMatchObject(UNAVAILABLE)
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

it.each([0, MIB])('touches nothing of another write of the same id, which has %i bytes', async (size) => {
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

/** As a process that dies leaves it: the cleaning-up fails. */
async function leaveHalf(at: TestMongodb): Promise<string> {
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

it('removes what an interrupted write left', async () => {
  const at = await openTestMongodb()
  const id = await leaveHalf(at)
  expect(await at.provider.stat({ id, ref: null })).toBeNull()
  expect(await at.provider.remove({ id, ref: null })).toBe('removed')
  expect([...at.files(), ...at.chunks()]).toEqual([])
})

it('refuses an id of which chunks are left, until they are removed', async () => {
  const at = await openTestMongodb()
  const bytes = randomBytes(MIB)
  const key = await keep(at.provider, bytes)
  at.failAlways(command('delete', 'objects.chunks'), { error: ERRORS.internal })
  await expect(at.provider.remove(key)).rejects.toMatchObject(UNAVAILABLE)
  expect(await at.provider.stat(key)).toBeNull()
  at.recover()
  await expect(keep(at.provider, randomBytes(5), key.id)).rejects.toThrow('there is an object')
  expect([at.files().length, at.chunks().length]).toEqual([0, 1])
  await at.provider.remove(key)
  expect(await fetchBytes(at.provider, await keep(at.provider, bytes, key.id))).toEqual(bytes)
})

it('sweeps what writes left behind a week ago and leaves what may be under way', async () => {
  const at = await openTestMongodb()
  const old = await leaveHalf(at)
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
