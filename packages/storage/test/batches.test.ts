import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { batchSource } from '../src/batches.ts'
import { streamOf } from './objects.ts'

it('T-11 a batch has a limited number of pieces, for pieces of any size', async () => {
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 256))
  const batches = batchSource(streamOf(bytes, 1))
  const taken: Buffer[] = []
  for (let pieces = await batches.next(); pieces.length > 0; pieces = await batches.next()) {
    expect(pieces.length).toBeLessThanOrEqual(1024)
    taken.push(...pieces)
    await setImmediate()
  }
  expect(Buffer.concat(taken)).toEqual(bytes)
})

it('a released batch source is paused, and its owner can read the rest', async () => {
  const source = streamOf(Buffer.alloc(5_000_000, 1))
  const batches = batchSource(source)
  const taken = Buffer.concat(await batches.next()).length
  batches.release()
  await setImmediate()
  expect(source.isPaused()).toBe(true)
  expect(source.destroyed).toBe(false)
  const left = (await source.toArray()).reduce((sum, { length }) => sum + length, 0)
  expect(left).toBeGreaterThan(0)
  expect(taken + left).toBeLessThanOrEqual(5_000_000)
})
