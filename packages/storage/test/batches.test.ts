import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { gather } from '../src/batches.ts'
import { streamOf } from './objects.ts'

it('T-11 gathers no great number of pieces, however small they are', async () => {
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 256))
  const gathering = gather(streamOf(bytes, 1))
  const taken: Buffer[] = []
  for (let pieces = await gathering.take(); pieces.length > 0; pieces = await gathering.take()) {
    expect(pieces.length).toBeLessThanOrEqual(1024)
    taken.push(...pieces)
    await setImmediate()
  }
  expect(Buffer.concat(taken)).toEqual(bytes)
})

it('leaves the rest to the owner of the source when released', async () => {
  const source = streamOf(Buffer.alloc(5_000_000, 1))
  const gathering = gather(source)
  const taken = Buffer.concat(await gathering.take()).length
  gathering.release()
  await setImmediate()
  expect(source.isPaused()).toBe(true)
  expect(source.destroyed).toBe(false)
  const left = (await source.toArray()).reduce((sum, { length }) => sum + length, 0)
  expect(left).toBeGreaterThan(0)
  expect(taken + left).toBeLessThanOrEqual(5_000_000)
})
