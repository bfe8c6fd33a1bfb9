import { hash, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createHashThread, type ThreadHash } from '../../../src/files/confirm/hash-thread.ts'

async function hashOf(begun: ThreadHash, pieces: Iterable<Uint8Array>): Promise<string> {
  for (const piece of pieces) {
    begun.take(piece)
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

it('FILE-22 the hashing thread does not empty a buffer that a piece is part of', async () => {
  const whole = Buffer.from('one two three')
  expect(await hashOf(thread.begin(null), [whole.subarray(0, 4), whole.subarray(4, 8)])).toBe(
    hash('sha256', 'one two '),
  )
  expect(whole.toString()).toBe('one two three')
})

it('T-11 everybody who waits for the thread goes on when it has caught up', async () => {
  const given = thread.begin(null)
  const bytes = randomBytes(8 * 1_048_576)
  given.take(bytes)
  expect(given.isFull()).toBe(true)
  await Promise.all([given.drained(), given.drained(), given.drained()])
  expect(await given.end()).toBe(hash('sha256', bytes))
  given.close()
})

it('T-10 a hash in the thread can be abandoned', async () => {
  const given = thread.begin(null)
  given.take(randomBytes(1000))
  given.close()
  await expect(given.end()).rejects.toThrow('has ended')
})

it('T-10 the hashing thread is started again after a failure', async () => {
  const broken = thread.begin(null)
  broken.tell('no bytes')
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
