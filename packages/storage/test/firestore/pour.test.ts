import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { CHUNK_BYTES, pour } from '../../src/firestore/pour.ts'
import { gather } from '../../src/batches.ts'
import { streamOf } from '../objects.ts'

const UNDECLARED = { declaredSize: null, maxBytes: 100 * CHUNK_BYTES }

it.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 3 * CHUNK_BYTES + 77])(
  'cuts %i bytes into chunks and holds the last back, whatever pieces they come in',
  async (size) => {
    const bytes = randomBytes(size)
    for (const pieceLength of [999, 65_536, 2 * CHUNK_BYTES + 1]) {
      for (const limits of [UNDECLARED, { ...UNDECLARED, declaredSize: size }]) {
        const chunks: Buffer[] = []
        const poured = await pour(gather(streamOf(bytes, pieceLength)), limits, async (n, data) => {
          chunks[n] = data
        })
        expect([poured.size, poured.kept]).toEqual([size, chunks.length])
        expect(chunks.every(({ length }) => length === CHUNK_BYTES)).toBe(true)
        expect(Buffer.concat([...chunks, ...(poured.last ? [poured.last] : [])]).equals(bytes)).toBe(true)
      }
    }
  },
)

it('T-11 holds no memory but that of the bytes, however small the pieces they come in', async () => {
  const keep = () => Promise.reject(new Error('there is but one chunk'))
  const declared = { ...UNDECLARED, declaredSize: 50_000 }
  const { last } = await pour(gather(streamOf(randomBytes(50_000), 1)), declared, keep)
  expect(last?.buffer.byteLength).toBe(50_000)
})

it('T-11 refuses more bytes than an object may have, declared or not', async () => {
  let kept = 0
  const keep = async () => void kept++
  const most = { declaredSize: null, maxBytes: 2 * CHUNK_BYTES }
  await expect(pour(gather(streamOf(Buffer.alloc(2 * CHUNK_BYTES + 1))), most, keep)).rejects.toThrow(RangeError)
  expect(kept).toBeLessThanOrEqual(2)
  expect(await pour(gather(streamOf(Buffer.alloc(2 * CHUNK_BYTES))), most, keep)).toMatchObject({ kept: 1 })
})

it('has four chunks under way at most, none before the first is kept, and none any more when it fails', async () => {
  let underWay = 0
  let most = 0
  const begun: number[] = []
  const failing = pour(gather(streamOf(Buffer.alloc(12 * CHUNK_BYTES))), UNDECLARED, async (n) => {
    begun.push(n)
    most = Math.max(most, ++underWay)
    for (let turn = 0; turn < 50; turn++) await setImmediate()
    if (n === 0) expect(begun).toEqual([0])
    underWay--
    if (n === 4) throw new Error('no more')
  })
  await expect(failing).rejects.toThrow('no more')
  expect([most, underWay]).toEqual([4, 0])
  expect(begun.length).toBeLessThan(11)
})
