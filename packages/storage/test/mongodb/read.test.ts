import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { ERRORS } from '@svc/devnet/providers/mongodb/faults'
import { MongoClient } from 'mongodb'
import { expect, it, onTestFinished } from 'vitest'
import { openMongodb } from '../../src/mongodb/open.ts'
import { readToEnd } from '../failures.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { MIB, openTestMongodb, settingsOf, UNAVAILABLE } from './start-mongodb.ts'

it('the MongoDB driver does not request chunks outside the range', async () => {
  const at = await openTestMongodb()
  const bytes = randomBytes(5 * MIB)
  const key = await keep(at.provider, bytes)
  const requested: unknown[] = []
  at.watch(({ name, collection, body }) => {
    if (name === 'find' && collection === 'objects.chunks') requested.push(body.filter.n)
  })
  const part = await fetchBytes(at.provider, key, { start: 2 * MIB - 1, end: 3 * MIB })
  expect(part?.equals(bytes.subarray(2 * MIB - 1, 3 * MIB + 1))).toBe(true)
  expect(requested).toEqual([{ $gte: 1, $lte: 3 }])
})

it('the MongoDB driver reopens a cursor that the server closed, at the same position', {
  tags: ['nightly'],
}, async () => {
  const at = await openTestMongodb()
  const bytes = randomBytes(9 * MIB)
  const key = await keep(at.provider, bytes)
  const gone = { error: ERRORS.cursorGone }
  at.failNext(({ name }) => name === 'getmore', gone, gone, gone, gone)
  expect((await fetchBytes(at.provider, key))?.equals(bytes)).toBe(true)
})

it('the MongoDB driver leaves no cursor open when a reader stops', { tags: ['nightly'] }, async () => {
  const at = await openTestMongodb()
  const key = await keep(at.provider, randomBytes(9 * MIB))
  const stream = (await at.provider.read(key))!
  await once(stream, 'readable')
  expect(at.server.openCursors()).toBe(1)
  stream.destroy()
  while (at.server.openCursors() > 0) await setImmediate()
})

it('a read from MongoDB fails when the object was removed meanwhile or lacks a chunk', async () => {
  const at = await openTestMongodb()
  const key = await keep(at.provider, randomBytes(4 * MIB))
  const stream = (await at.provider.read(key))!
  await at.provider.remove(key)
  await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)

  const damaged = await keep(at.provider, randomBytes(3 * MIB))
  const client = new MongoClient(at.server.url)
  onTestFinished(() => client.close())
  await client.db('svc').collection('objects.chunks').deleteOne({ files_id: damaged.id, n: 2 })
  await expect(fetchBytes(at.provider, damaged)).rejects.toMatchObject(UNAVAILABLE)
})

it('T-139 the MongoDB driver fails when the document of an object has no valid size', async () => {
  const at = await openTestMongodb()
  const client = new MongoClient(at.server.url)
  onTestFinished(() => client.close())
  for (const wrong of [{ length: 'many' }, { length: -1 }, { chunkSize: 0 }]) {
    const key = await keep(at.provider, randomBytes(1000))
    await client.db('svc').collection<{ _id: string }>('objects.files').updateOne({ _id: key.id }, { $set: wrong })
    await expect(at.provider.stat(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(at.provider.read(key)).rejects.toMatchObject(UNAVAILABLE)
  }
})

it('the MongoDB driver looks up thousands of objects in a few requests', async () => {
  const at = await openTestMongodb()
  const there = await keep(at.provider, Buffer.from('there'))
  const never = Array.from({ length: 12_000 }, () => ({ id: newId(), ref: null }))
  const questions: string[] = []
  at.watch(({ name, collection }) => {
    if (collection === 'objects.files') questions.push(name)
  })
  const absent = await at.provider.absent([...never.slice(0, 6000), there, ...never.slice(6000), ...never])
  expect(absent).toEqual(new Set(never.map(({ id }) => id)))
  expect(questions).toEqual(['find', 'find', 'find'])
})

it('the MongoDB driver keeps buckets and databases separate', async () => {
  const at = await openTestMongodb()
  const { id } = await keep(at.provider, Buffer.from('here'))
  for (const elsewhere of [{ bucket: 'others' }, { database: 'other' }]) {
    const other = await openMongodb({ ...settingsOf(at.server), ...elsewhere })
    onTestFinished(() => other.close())
    expect(await other.stat({ id, ref: null })).toBeNull()
    await keep(other, Buffer.from('there'), id)
    await other.remove({ id, ref: null })
  }
  expect(await fetchBytes(at.provider, { id, ref: null })).toEqual(Buffer.from('here'))
})
