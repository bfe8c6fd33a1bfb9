import { expect, it } from 'vitest'
import { mapInChunks } from '../../src/files/urls.ts'

it('mapping in chunks keeps the order and lets other work run in between', async () => {
  let turns = 0
  let isDone = false
  function takeTurn(): void {
    turns++
    if (!isDone) setImmediate(takeTurn)
  }
  setImmediate(takeTurn)
  const items = Array.from({ length: 100 }, (_, i) => i)
  expect(await mapInChunks(items, (item) => item * 2)).toEqual(items.map((item) => item * 2))
  isDone = true
  expect(turns).toBeGreaterThanOrEqual(5)
})
