// The local server of the other tests, used by the official library.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type MongodbServer, type MongodbServerOptions, startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { GridFSBucket, MongoClient } from 'mongodb'
import { describe, expect, it, onTestFinished } from 'vitest'
import { streamOf } from '../objects.ts'
import { CREDENTIALS, MIB } from './start-mongodb.ts'

async function start(options?: MongodbServerOptions): Promise<MongodbServer> {
  const server = await startMongodbServer(options)
  onTestFinished(() => server.stop())
  return server
}

function clientOf(url: string): MongoClient {
  const client = new MongoClient(url)
  onTestFinished(() => client.close())
  return client
}

it('the local MongoDB server serves the official GridFS bucket: put, get, ranges, find, delete', {
  tags: ['nightly'],
}, async () => {
  const server = await start({ credentials: CREDENTIALS })
  const bucket = new GridFSBucket(clientOf(server.url).db('db'))
  const bytes = randomBytes(20 * MIB + 3)
  const upload = bucket.openUploadStream('a file')
  await pipeline(streamOf(bytes), upload)
  expect((await buffer(bucket.openDownloadStream(upload.id))).equals(bytes)).toBe(true)
  const part = bucket.openDownloadStream(upload.id, { start: MIB - 5, end: 3 * MIB })
  expect((await buffer(part)).equals(bytes.subarray(MIB - 5, 3 * MIB))).toBe(true)
  expect(await bucket.find({ filename: 'a file' }).toArray()).toMatchObject([{ length: bytes.length }])
  await bucket.delete(upload.id)
  expect([...server.documents('db.fs.files'), ...server.documents('db.fs.chunks')]).toEqual([])
})

it('the local MongoDB server returns many documents in batches, in order, with the requested fields', {
  tags: ['nightly'],
}, async () => {
  const server = await start()
  const numbers = clientOf(server.url).db('db').collection('numbers')
  await numbers.insertMany(Array.from({ length: 1000 }, (_, i) => ({ i: (i * 7) % 1000, other: 'x' })))
  const found = await numbers
    .find({ i: { $gte: 400 } }, { projection: { _id: 0, i: 1 }, batchSize: 90 })
    .sort({ i: -1 })
  expect(await found.toArray()).toEqual(Array.from({ length: 600 }, (_, i) => ({ i: 999 - i })))
  const few = numbers.find({}, { batchSize: 10 })
  await few.next()
  await few.close()
  expect(await numbers.findOne({ i: -1 })).toBeNull()
})

describe('the local MongoDB server', () => {
  it('authenticates by SCRAM-SHA-256 and rejects a wrong user or password', async () => {
    const server = await start({ credentials: { user: 'a=b,c', password: 'päss' } })
    await clientOf(server.url).db('db').collection('c').insertOne({ a: 1 })
    const wrong = { code: 18, codeName: 'AuthenticationFailed' }
    for (const url of [server.url.replace('ss@', 'sS@'), server.url.replace('a%3D', 'A%3D')]) {
      await expect(clientOf(url).db('db').collection('c').findOne()).rejects.toMatchObject(wrong)
    }
    const stranger = clientOf(`mongodb://127.0.0.1:${server.port}/`)
    await expect(stranger.db('db').collection('c').findOne()).rejects.toMatchObject({ code: 13 })
  })

  it('rejects duplicate keys, also those of an index, and changes nothing', async () => {
    const server = await start()
    const collection = clientOf(server.url).db('db').collection<{ _id: number; a: number; b?: number }>('c')
    await collection.createIndex({ a: 1, b: 1 }, { unique: true })
    await collection.insertOne({ _id: 1, a: 1, b: 1 })
    await expect(collection.insertOne({ _id: 1, a: 2 })).rejects.toMatchObject({ code: 11000, keyPattern: { _id: 1 } })
    await expect(collection.insertOne({ _id: 2, a: 1, b: 1 })).rejects.toMatchObject({ keyPattern: { a: 1, b: 1 } })
    await collection.insertOne({ _id: 2, a: 1, b: 2 })
    await expect(collection.updateOne({ _id: 2 }, { $set: { b: 1 } })).rejects.toMatchObject({ code: 11000 })
    expect(server.documents('db.c')).toEqual([
      { _id: 1, a: 1, b: 1 },
      { _id: 2, a: 1, b: 2 },
    ])
  })

  it('rejects documents over 16 MiB and unknown commands', { tags: ['nightly'] }, async () => {
    const server = await start()
    const db = clientOf(server.url).db('db')
    await db.collection('c').insertOne({ data: Buffer.alloc(16 * MIB - 100) })
    const tooLarge = db.collection('c').insertOne({ data: Buffer.alloc(16 * MIB) })
    await expect(tooLarge).rejects.toMatchObject({ code: 10334 })
    await expect(db.command({ mapReduce: 'c' })).rejects.toMatchObject({ code: 59 })
  })
})

it('the local MongoDB server performs a write that is sent twice only once', { tags: ['nightly'] }, async () => {
  const server = await start()
  const collection = clientOf(server.url).db('db').collection<{ _id: number; count: number }>('c')
  await collection.insertOne({ _id: 1, count: 0 })
  const lost: string[] = []
  server.faults.on = ({ name }) => {
    if (!['insert', 'update'].includes(name) || lost.includes(name)) return null
    lost.push(name)
    return 'cut-after'
  }
  await collection.updateOne({ _id: 1 }, { $inc: { count: 1 } })
  await collection.insertOne({ _id: 2, count: 0 })
  expect(lost).toEqual(['update', 'insert'])
  expect(server.documents('db.c')).toEqual([
    { _id: 1, count: 1 },
    { _id: 2, count: 0 },
  ])
})

it('the local MongoDB server has its documents and indexes after a restart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-mongodb-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const first = await startMongodbServer({ folder })
  const data = randomBytes(MIB)
  const before = clientOf(first.url).db('db').collection<{ _id: number; a: number }>('c')
  await before.createIndex({ a: 1 }, { unique: true })
  await before.insertMany([1, 2, 3].map((i) => ({ _id: i, a: i, data })))
  await before.deleteOne({ _id: 2 })
  await first.stop()

  const second = await start({ folder })
  const after = clientOf(second.url).db('db').collection<{ _id: number; a: number; data: Buffer }>('c')
  expect(second.documents('db.c')).toEqual([
    { _id: 1, a: 1 },
    { _id: 3, a: 3 },
  ])
  expect((await after.findOne({ _id: 3 }, { promoteBuffers: true }))?.data.equals(data)).toBe(true)
  await expect(after.insertOne({ _id: 4, a: 1, data })).rejects.toMatchObject({ code: 11000 })
})

it('the local MongoDB server closes a connection with another protocol', async () => {
  const server = await start()
  const answer = await fetch(`http://127.0.0.1:${server.port}/`).catch((error) => error)
  expect(answer).toBeInstanceOf(TypeError)
  expect(await clientOf(server.url).db('db').command({ ping: 1 })).toMatchObject({ ok: 1 })
})

it('the local MongoDB server accepts a message that arrives in small pieces', async () => {
  const server = await start()
  const bucket = new GridFSBucket(clientOf(server.url).db('db'))
  const upload = bucket.openUploadStream('slow')
  await pipeline(Readable.from(Array.from({ length: 300 }, (_, i) => Buffer.of(i))), upload)
  expect(await buffer(bucket.openDownloadStream(upload.id))).toHaveLength(300)
})
