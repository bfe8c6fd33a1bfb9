import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { forAllTests } from '@svc/devnet/for-tests'
import { expect, it, onTestFinished } from 'vitest'
import { type DocumentWrite, openCalls } from '../../src/firestore/calls.ts'
import { CHUNKING } from '../../src/firestore/write.ts'
import { readToEnd } from '../failures.ts'
import { fetchBytes, keep, newId } from '../objects.ts'
import { fail, MIB, settingsFor, startTestFirestore, UNAVAILABLE } from './start-firestore.ts'

const { chunkBytes: CHUNK_BYTES } = CHUNKING

const at = forAllTests(() => startTestFirestore())

it('the Firestore driver fetches only the chunks that a range needs', { tags: ['nightly'] }, async () => {
  const bytes = randomBytes(16 * MIB)
  const key = await keep(at.provider, bytes)
  for (const [start, end, chunks] of [
    [0, 0, 1],
    [CHUNK_BYTES - 1, CHUNK_BYTES, 2],
    [8 * CHUNK_BYTES, 9 * CHUNK_BYTES - 1, 1],
    [bytes.length - 1, bytes.length - 1, 1],
    [10 * CHUNK_BYTES + 5, 16 * CHUNK_BYTES + 5, 7],
  ] as const) {
    const before = at.server.calls.length
    const part = await fetchBytes(at.provider, key, { start, end })
    expect(part?.equals(bytes.subarray(start, end + 1))).toBe(true)
    expect(at.server.calls.length - before).toBe(1 + chunks)
  }
  await at.provider.remove(key)
  expect([...(await at.objects(key.id)), ...(await at.chunks(key.id))]).toEqual([])
})

it('a reader of Firestore that stops ends its requests and does not wait for them', { tags: ['nightly'] }, async () => {
  const key = await keep(at.provider, randomBytes(9 * MIB))
  fail(at.server, { at: /BatchGet/, after: 3, fault: 'silence' })
  const stream = (await at.provider.read(key))!
  await once(stream, 'readable')
  const before = at.server.calls.length
  stream.destroy()
  await once(stream, 'close')
  expect(stream.errored).toBeNull()
  at.server.recover()
  await at.provider.stat(key)
  expect(at.server.calls.length).toBe(before + 1)
})

it('a read from Firestore fails when the object was removed meanwhile, lacks a chunk, or has a shorter one', {
  tags: ['nightly'],
}, async () => {
  const key = await keep(at.provider, randomBytes(5 * MIB))
  const stream = (await at.provider.read(key))!
  await at.provider.remove(key)
  await expect(readToEnd(stream)).rejects.toMatchObject(UNAVAILABLE)

  const calls = openCalls(settingsFor(at.server.address))
  onTestFinished(calls.close)
  const damages: ((name: string) => DocumentWrite)[] = [
    (name) => ({ delete: name }),
    (name) => ({ update: { name, fields: { data: { bytesValue: Buffer.alloc(7) } } } }),
  ]
  for (const damage of damages) {
    const damaged = await keep(at.provider, randomBytes(3 * MIB))
    const [, , third] = (await at.chunks(damaged.id)).sort()
    const name = third!.replace(/^objects/, calls.root)
    await calls.commit([damage(name)], { deadline: new Date(Date.now() + 10_000) })
    await expect(fetchBytes(at.provider, damaged)).rejects.toMatchObject(UNAVAILABLE)
  }
})

it('the Firestore driver looks up thousands of objects in a few requests', { tags: ['nightly'] }, async () => {
  const there = await keep(at.provider, Buffer.from('there'))
  const never = Array.from({ length: 1100 }, () => ({ id: newId(), ref: null }))
  const before = at.server.calls.length
  const absent = await at.provider.absent([...never.slice(0, 600), there, ...never.slice(600), ...never])
  expect(absent).toEqual(new Set(never.map(({ id }) => id)))
  expect(at.server.calls.slice(before)).toEqual(['BatchGetDocuments', 'BatchGetDocuments', 'BatchGetDocuments'])
})

it('the Firestore driver keeps collections, databases and projects separate', async () => {
  const { id } = await keep(at.provider, Buffer.from('here'))
  for (const elsewhere of [{ collection: 'others' }, { database: 'other' }, { project: 'svc-other' }]) {
    const other = await at.open(elsewhere)
    expect(await other.stat({ id, ref: null })).toBeNull()
    await keep(other, Buffer.from('there'), id)
    await other.remove({ id, ref: null })
  }
  expect(await fetchBytes(at.provider, { id, ref: null })).toEqual(Buffer.from('here'))
})

it('T-139 the Firestore driver fails when the document of an object has no valid size', async () => {
  const calls = openCalls(settingsFor(at.server.address))
  onTestFinished(() => calls.close())
  for (const size of [{}, { size: { integerValue: -1 } }, { size: { stringValue: 'many' } }]) {
    const key = { id: newId(), ref: null }
    const fields = {
      write: { stringValue: 'w' },
      chunks: { integerValue: 1 },
      chunk_bytes: { integerValue: 9 },
      ...size,
    }
    const wrong: DocumentWrite = { update: { name: `${calls.root}/${key.id}`, fields } }
    await calls.commit([wrong], { deadline: new Date(Date.now() + 20_000) })
    await expect(at.provider.stat(key)).rejects.toMatchObject(UNAVAILABLE)
    await expect(at.provider.read(key)).rejects.toMatchObject(UNAVAILABLE)
  }
})
