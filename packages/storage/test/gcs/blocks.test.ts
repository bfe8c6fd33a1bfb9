import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { BLOCK_BYTES, type Blocks, readBlocks } from '../../src/gcs/blocks.ts'
import { streamOf } from '../objects.ts'

const MIB = 1024 * 1024

async function takeAll(blocks: Blocks): Promise<Buffer[][]> {
  const chunks: Buffer[][] = []
  for (let isLast = false; !isLast; ) {
    const chunk = await blocks.next(1)
    chunks.push(chunk.blocks.map((block) => Buffer.from(block)))
    isLast = chunk.isLast
  }
  return chunks
}

it.each([0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 4 * BLOCK_BYTES, 3 * MIB + 7])(
  'a block reader cuts %i bytes into full blocks and a last block that is not empty',
  async (size) => {
    const bytes = randomBytes(size)
    for (const pieceLength of [1000, 64 * 1024, 2 * MIB]) {
      for (const declared of [size, null]) {
        const chunks = await takeAll(readBlocks(streamOf(bytes, pieceLength), declared, 2 ** 40))
        expect(Buffer.concat(chunks.flat()).equals(bytes)).toBe(true)
        for (const block of chunks.slice(0, -1).flat()) expect(block).toHaveLength(BLOCK_BYTES)
        expect(Buffer.concat(chunks.at(-1)!).length > 0).toBe(size > 0)
      }
    }
  },
)

it('T-11 a block reader reads only a few blocks ahead from a fast source', async () => {
  let given = 0
  const source = new Readable({
    read() {
      given += 64 * 1024
      this.push(Buffer.alloc(64 * 1024))
    },
  })
  const blocks = readBlocks(source, null, 2 ** 40)
  await blocks.next(1)
  for (let turn = 0; turn < 1000; turn++) await setImmediate()
  expect(given).toBeLessThanOrEqual(9 * MIB)
  const { blocks: next } = await blocks.next(1)
  expect(next.length * BLOCK_BYTES).toBeLessThanOrEqual(5 * MIB)
  blocks.release()
})

it('T-11 a block reader allocates no more memory than the size of a small object', async () => {
  const [block] = (await readBlocks(streamOf(Buffer.alloc(10)), 10, 2 ** 40).next(4)).blocks
  expect(block!.buffer.byteLength).toBe(10)
})

it('a block reader returns the blocks of a slow source one by one', async () => {
  const source = new Readable({ read() {} })
  const blocks = readBlocks(source, null, 2 ** 40)
  source.push(Buffer.alloc(BLOCK_BYTES + 1))
  expect(await blocks.next(1)).toMatchObject({ blocks: { length: 1 }, isLast: false })
  source.push(Buffer.alloc(BLOCK_BYTES))
  expect(await blocks.next(1)).toMatchObject({ blocks: { length: 1 }, isLast: false })
  source.push(null)
  expect(await blocks.next(1)).toMatchObject({ blocks: [{ length: 1 }], isLast: true })
})

it('a block reader fails at the first byte beyond the declared size', async () => {
  const source = streamOf(Buffer.alloc(5 * MIB))
  const blocks = readBlocks(source, null, 2 * MIB)
  await expect(takeAll(blocks)).rejects.toThrow(RangeError)
  expect(blocks.failure.reason).toBeInstanceOf(RangeError)
  expect([source.isPaused(), source.destroyed]).toEqual([true, false])
})

it('a released block reader leaves the rest of the source to its owner', async () => {
  const source = streamOf(Buffer.alloc(20 * MIB))
  const blocks = readBlocks(source, null, 2 ** 40)
  await blocks.next(1)
  blocks.release()
  await setImmediate()
  expect([source.isPaused(), source.destroyed]).toEqual([true, false])
  const left = (await source.toArray()).reduce((sum, { length }) => sum + length, 0)
  expect(left).toBeGreaterThan(0)
})
