import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { batchSource } from '../src/batches.ts'
import { writeChunks } from '../src/chunks.ts'
import { CHUNKING as FIRESTORE } from '../src/firestore/write.ts'
import { CHUNKING as MONGODB } from '../src/mongodb/write.ts'
import { streamOf } from './objects.ts'

const sourceOf = (bytes: Buffer, pieceLength?: number) => batchSource(streamOf(bytes, pieceLength))

describe.each([
  ['Firestore', { ...FIRESTORE, maxBytes: 100 * FIRESTORE.chunkBytes }],
  ['MongoDB', { ...MONGODB, maxBytes: Number.POSITIVE_INFINITY, leavesLast: false }],
])('the chunks of %s', (_, chunking) => {
  const { chunkBytes, leavesLast, atOnce } = chunking

  it.each([0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes, 3 * chunkBytes + 77])(
    'contain %i bytes, for any division of the source into pieces',
    async (size) => {
      const bytes = randomBytes(size)
      const lengths = Array.from({ length: Math.ceil(size / chunkBytes) }, (_, i) =>
        Math.min(chunkBytes, size - i * chunkBytes),
      )
      for (const pieceLength of [999, 65_536, 2 * chunkBytes + 1]) {
        for (const declaredSize of [size, null]) {
          const chunks: Buffer[] = []
          const options = { ...chunking, declaredSize }
          const written = await writeChunks(sourceOf(bytes, pieceLength), options, async (n, data) => {
            chunks[n] = data
          })
          expect([written.size, written.count]).toEqual([size, chunks.length])
          expect(written.last !== null).toBe(leavesLast && size > 0)
          if (written.last) chunks.push(written.last)
          expect(chunks.map(({ length }) => length)).toEqual(lengths)
          expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
        }
      }
    },
  )

  it('T-11 hold no more memory than their bytes when the source is cut into single bytes', async () => {
    const bytes = randomBytes(50_000)
    const memoryOf = async (declaredSize: number | null) => {
      let only: Buffer | null = null
      const { last } = await writeChunks(sourceOf(bytes, 1), { ...chunking, declaredSize }, async (_, data) => {
        only = data
      })
      expect(last === null).toBe(!leavesLast)
      return ((last ?? only) as Buffer).buffer.byteLength // one of the two is the only chunk
    }
    expect(await memoryOf(bytes.length)).toBe(bytes.length)
    expect(await memoryOf(null)).toBe(chunkBytes)
  })

  it('are written a few at a time, and none is still being written when one fails', async () => {
    let running = 0
    let most = 0
    const begun: number[] = []
    let written = 0
    const options = { ...chunking, declaredSize: null }
    const failing = writeChunks(sourceOf(Buffer.alloc(12 * chunkBytes)), options, async (n) => {
      begun.push(n)
      most = Math.max(most, ++running)
      for (let turn = 0; turn < 50; turn++) await setImmediate()
      if (leavesLast && n === 0) expect(begun).toEqual([0])
      running--
      if (n === 4) throw new Error('no more')
      written++
    })
    await expect(failing).rejects.toThrow('no more')
    expect([most, running]).toEqual([atOnce, 0])
    expect(begun.length).toBeLessThan(11)
    // Only those that began before the failure was noticed.
    if (!leavesLast) expect(written).toBe(5)
  })
})

it('T-11 the chunk writer rejects a source that is larger than the limit, with and without a declared size', async () => {
  let count = 0
  const writeChunk = async () => void count++
  const { chunkBytes } = FIRESTORE
  const options = { ...FIRESTORE, declaredSize: null, maxBytes: 2 * chunkBytes }
  const tooLarge = writeChunks(sourceOf(Buffer.alloc(2 * chunkBytes + 1)), options, writeChunk)
  await expect(tooLarge).rejects.toThrow(RangeError)
  expect(count).toBeLessThanOrEqual(2)
  expect(await writeChunks(sourceOf(Buffer.alloc(2 * chunkBytes)), options, writeChunk)).toMatchObject({ count: 1 })
})
