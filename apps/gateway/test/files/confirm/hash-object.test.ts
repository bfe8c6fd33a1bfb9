import { hash, randomBytes } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { forAllTests } from '@svc/devnet/for-tests'
import { beforeEach, expect, it } from 'vitest'
import { createObjectHasher, createObjectReader, type HashObject } from '../../../src/files/confirm/hash-object.ts'
import { createHashThread, plainHashThread, type ThreadHash } from '../../../src/files/confirm/hash-thread.ts'
import { hashStream } from '../../../src/files/hash-stream.ts'
import { sha256, watchedStorage } from './confirm.ts'

const storage = forAllTests(watchedStorage)
let hashObject: HashObject
beforeEach(() => {
  hashObject = createObjectHasher(createObjectReader(storage.providers))
  storage.reads.length = 0
})

async function keep(bytes: string | Uint8Array) {
  const id = hash('sha256', `id of ${bytes}`).slice(0, 32)
  const about = { contentType: 'text/plain', size: null }
  await storage.providers.named('gcs').write(id, Readable.from([Buffer.from(bytes)]), about)
  return { id, ref: null }
}

it('FILE-22 reading an object returns its size and the SHA-256 of its bytes', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('hello'), Buffer.alloc(1_200_000, 'abc')]) {
    const reading = await hashObject('gcs', await keep(bytes))
    expect(reading).toEqual({ size: bytes.length, contentHash: sha256(bytes) })
  }
})

it('T-10 an object is read once for concurrent and later callers', async () => {
  const key = await keep('once')
  const readings = await Promise.all([hashObject('gcs', key), hashObject('gcs', key)])
  readings.push(await hashObject('gcs', key))
  expect(new Set(readings.map((reading) => reading?.contentHash))).toEqual(new Set([sha256('once')]))
  expect(storage.reads).toEqual([key.id])
})

it('EVID-13 the object reader reads again even if the hash is cached', async () => {
  const key = await keep('anew')
  const readObject = createObjectReader(storage.providers)
  for (const _ of ['once', 'twice'])
    expect(await readObject('gcs', key)).toEqual({ size: 4, contentHash: sha256('anew') })
  expect(storage.reads).toEqual([key.id, key.id])
})

it('FILE-24 reading a missing object returns null, which is not cached', async () => {
  const key = { id: 'c'.repeat(32), ref: null }
  expect(await hashObject('gcs', key)).toBeNull()
  expect(await hashObject('gcs', key)).toBeNull()
  expect(storage.reads).toHaveLength(2)
})

it('T-10 reading does not wait for another provider that hangs', async () => {
  const gcs = storage.providers.named('gcs')
  const silent = { ...gcs, read: async () => new PassThrough() }
  const named = (provider: string) => (provider === 'storj' ? silent : gcs)
  const readObject = createObjectReader({ named })
  for (let i = 0; i < 100; i++) void readObject('storj', { id: `${i}`, ref: null })
  expect(await readObject('gcs', await keep('here'))).toMatchObject({ size: 4 })
})

it('T-139 reading fails while the provider fails, and works afterwards', async () => {
  const key = await keep('later')
  storage.failRead()
  await expect(hashObject('gcs', key)).rejects.toThrow('the storage provider is unavailable')
  expect(await hashObject('gcs', key)).toMatchObject({ size: 5 })
})

it.each(['in the thread', 'at once'])('FILE-26 hashing a stream passes on every byte: %s', async (how) => {
  const chunks = [Buffer.from('one '), Buffer.from('two')]
  const { bytes, hash, close } = hashStream(plainHashThread(), Readable.from(chunks), how === 'at once' ? 7 : null)
  await new Promise(setImmediate)
  expect((await buffer(bytes)).toString()).toBe('one two')
  expect(await hash()).toBe(sha256('one two'))
  close()
})

async function hashOf(begun: ThreadHash, pieces: Iterable<Uint8Array>): Promise<string> {
  for (const piece of pieces) {
    begun.write(piece)
    await begun.drained()
  }
  const hex = await begun.end()
  begun.close()
  return hex
}

const cut = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))

const thread = createHashThread<null>(new URL('../../../src/files/confirm/hash-worker.ts', import.meta.url))

it('FILE-22 the hashing thread returns the SHA-256 of all pieces in order', async () => {
  for (const pieces of [0, 1, 2, 3, 4, 9]) {
    const bytes = randomBytes(pieces * 1000)
    const expected = hash('sha256', bytes)
    expect(await hashOf(thread.begin(null), cut(bytes, 1000))).toBe(expected)
  }
})

it('FILE-22 the hashing thread keeps concurrent hashes apart', async () => {
  const files = Array.from({ length: 10 }, () => randomBytes(50_000))
  const hashes = await Promise.all(files.map((bytes, i) => hashOf(thread.begin(null), cut(bytes, 1000 + i))))
  expect(hashes).toEqual(files.map((bytes) => hash('sha256', bytes)))
})

it('FILE-22 the hashing thread does not detach the buffer of a piece', async () => {
  const original = Buffer.from('one two three')
  expect(await hashOf(thread.begin(null), [original.subarray(0, 4), original.subarray(4, 8)])).toBe(
    hash('sha256', 'one two '),
  )
  expect(original.toString()).toBe('one two three')
})

it('T-11 all callers that wait for the thread continue when it has caught up', async () => {
  const given = thread.begin(null)
  const bytes = randomBytes(8 * 1_048_576)
  given.write(bytes)
  expect(given.isFull()).toBe(true)
  await Promise.all([given.drained(), given.drained(), given.drained()])
  expect(await given.end()).toBe(hash('sha256', bytes))
  given.close()
})

it('T-10 a hash in the thread can be abandoned', async () => {
  const given = thread.begin(null)
  given.write(randomBytes(1000))
  given.close()
  await expect(given.end()).rejects.toThrow('has ended')
})

it('T-10 the hashing thread is restarted after a failure', async () => {
  const broken = thread.begin(null)
  broken.sendMessage('no bytes')
  await expect(broken.end()).rejects.toThrow('has ended')
  const again = async () => {
    const begun = thread.begin(null)
    try {
      return await hashOf(begun, [Buffer.from('again')])
    } catch {
      return null
    }
  }
  // The port may close before the exit of the thread is noticed.
  await expect.poll(again).toBe(hash('sha256', 'again'))
})
