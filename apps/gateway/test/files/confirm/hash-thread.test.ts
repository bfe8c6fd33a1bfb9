import { hash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createHashThread, type ThreadHash } from '../../../src/files/confirm/hash-thread.ts'

async function hashOf(begun: ThreadHash, pieces: Iterable<Uint8Array>): Promise<string> {
  for (const piece of pieces) await begun.take(piece)
  const hex = await begun.end()
  begun.close()
  return hex
}

const cut = (bytes: Uint8Array, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))

describe('a thread that hashes', () => {
  const thread = createHashThread()

  it('FILE-22 gives SHA-256 of all pieces, in their order', async () => {
    for (const pieces of [0, 1, 2, 3, 4, 9]) {
      const bytes = randomBytes(pieces * 1000)
      const expected = hash('sha256', bytes)
      expect(await hashOf(thread.begin(), cut(bytes, 1000))).toBe(expected)
    }
  })

  it('FILE-22 keeps several apart', async () => {
    const files = Array.from({ length: 10 }, () => randomBytes(50_000))
    const hashes = await Promise.all(files.map((bytes, i) => hashOf(thread.begin(), cut(bytes, 1000 + i))))
    expect(hashes).toEqual(files.map((bytes) => hash('sha256', bytes)))
  })

  it('FILE-22 leaves alone what a piece is only a part of', async () => {
    const whole = Buffer.from('one two three')
    expect(await hashOf(thread.begin(), [whole.subarray(0, 4), whole.subarray(4, 8)])).toBe(hash('sha256', 'one two '))
    expect(whole.toString()).toBe('one two three')
  })

  it('T-10 can be told to give up', async () => {
    const given = thread.begin()
    await given.take(randomBytes(1000))
    given.close()
    await expect(given.end()).rejects.toThrow('has ended')
  })

  it('T-10 is begun anew when it failed', async () => {
    const broken = thread.begin()
    const notBytes = { byteLength: 1, buffer: new ArrayBuffer(1) } as Uint8Array
    await broken.take(notBytes)
    await expect(broken.end()).rejects.toThrow('has ended')
    const again = async () => {
      const begun = thread.begin()
      try {
        return await hashOf(begun, [Buffer.from('again')])
      } catch {
        return null
      }
    }
    // The port may close before the thread is known to be gone.
    await expect.poll(again).toBe(hash('sha256', 'again'))
  })
})
