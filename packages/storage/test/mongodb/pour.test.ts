import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { gather } from '../../src/batches.ts'
import { CHUNK_BYTES, pour } from '../../src/mongodb/pour.ts'
import { streamOf } from '../objects.ts'

async function chunksOf(bytes: Buffer, pieceLength: number, declared: number | null): Promise<Buffer[]> {
  const chunks: Buffer[] = []
  const size = await pour(gather(streamOf(bytes, pieceLength)), declared, async (n, data) => {
    chunks[n] = data
  })
  expect(size).toBe(bytes.length)
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
  return chunks
}

it.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 3 * CHUNK_BYTES + 77])(
  'cuts %i bytes into chunks, whatever pieces they come in',
  async (size) => {
    const bytes = randomBytes(size)
    const expected = Array.from({ length: Math.ceil(size / CHUNK_BYTES) }, (_, i) =>
      Math.min(CHUNK_BYTES, size - i * CHUNK_BYTES),
    )
    for (const pieceLength of [999, 65_536, 2 * CHUNK_BYTES + 1]) {
      for (const declared of [size, null]) {
        expect((await chunksOf(bytes, pieceLength, declared)).map(({ length }) => length)).toEqual(expected)
      }
    }
  },
)

it('T-11 holds no memory but that of the bytes, however small the pieces they come in', async () => {
  const bytes = randomBytes(50_000)
  const [known] = await chunksOf(bytes, 1, bytes.length)
  expect(known?.buffer.byteLength).toBe(bytes.length)
  const [unknown] = await chunksOf(bytes, 1, null)
  expect(unknown?.buffer.byteLength).toBe(CHUNK_BYTES)
})

it('has two chunks under way at most, and none any more when it fails', async () => {
  let underWay = 0
  let most = 0
  let kept = 0
  const failing = pour(gather(streamOf(Buffer.alloc(9 * CHUNK_BYTES))), null, async (n) => {
    most = Math.max(most, ++underWay)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    underWay--
    if (n === 4) throw new Error('no more')
    kept++
  })
  await expect(failing).rejects.toThrow('no more')
  expect([most, underWay]).toEqual([2, 0])
  expect(kept).toBe(5)
})
