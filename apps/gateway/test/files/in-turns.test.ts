import { expect, it } from 'vitest'
import { mapInTurns } from '../../src/files/in-turns.ts'

it('keeps the order, and lets others run in between', async () => {
  let turns = 0
  let isDone = false
  function takeTurn(): void {
    turns++
    if (!isDone) setImmediate(takeTurn)
  }
  setImmediate(takeTurn)
  const items = Array.from({ length: 100 }, (_, i) => i)
  expect(await mapInTurns(items, (item) => item * 2)).toEqual(items.map((item) => item * 2))
  isDone = true
  expect(turns).toBeGreaterThanOrEqual(5)
})
