// The local server of the other tests, is as strict as MongoDB.

import { startMongodbServer } from '@svc/devnet/providers/mongodb/start'
import { type Db, MongoClient } from 'mongodb'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { MIB } from './start-mongodb.ts'

let db: Db
beforeEach(async () => {
  const server = await startMongodbServer()
  const client = new MongoClient(server.url)
  onTestFinished(async () => {
    await client.close()
    await server.stop()
  })
  db = client.db('db')
})

describe('the local MongoDB server', () => {
  it('rejects duplicate keys, also those of an index, and changes nothing', async () => {
    const collection = db.collection<{ _id: number; a: number; b?: number }>('c')
    await collection.createIndex({ a: 1, b: 1 }, { unique: true })
    await collection.insertOne({ _id: 1, a: 1, b: 1 })
    await expect(collection.insertOne({ _id: 1, a: 2 })).rejects.toMatchObject({ code: 11000, keyPattern: { _id: 1 } })
    await expect(collection.insertOne({ _id: 2, a: 1, b: 1 })).rejects.toMatchObject({ keyPattern: { a: 1, b: 1 } })
    await collection.insertOne({ _id: 2, a: 1, b: 2 })
    await expect(collection.updateOne({ _id: 2 }, { $set: { b: 1 } })).rejects.toMatchObject({ code: 11000 })
    expect(await collection.find().toArray()).toMatchObject([
      { a: 1, b: 1 },
      { a: 1, b: 2 },
    ])
  })

  it('rejects documents over 16 MiB and unknown commands', { tags: ['nightly'] }, async () => {
    await db.collection('c').insertOne({ data: Buffer.alloc(16 * MIB - 100) })
    const tooLarge = db.collection('c').insertOne({ data: Buffer.alloc(16 * MIB) })
    await expect(tooLarge).rejects.toMatchObject({ code: 10334 })
    await expect(db.command({ mapReduce: 'c' })).rejects.toMatchObject({ code: 59 })
  })
})
