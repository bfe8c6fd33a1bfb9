import { expect, it } from 'vitest'
import { simulateYear } from '../src/year/simulate.ts'

const randomNumbers = () => {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 32
  }
}

it('ADD-40 a year of lockers adds up, and repeats itself', () => {
  const year = (anchorsPerDay: number) => simulateYear({ lockers: 3650, anchorsPerDay, random: randomNumbers() }).months
  const months = year(48)
  expect(months).toHaveLength(12)
  expect(months[11]?.counts.lockers).toBe(3650)
  expect(year(48)).toEqual(months)
  for (const [index, { counts }] of months.entries()) {
    const statements = counts.statementsOfSmall + counts.statementsOfLarge
    expect(counts.anchors).toBeLessThanOrEqual(statements)
    expect(statements).toBeGreaterThanOrEqual(counts.lockers)
    expect(counts.files).toBeGreaterThan(months[index - 1]?.counts.files ?? 0)
    // Ten lockers a day, four quotes of each are not paid, and those are deleted after thirty days.
    expect(counts.quotes).toBeLessThanOrEqual(30 * 40)
  }
  expect(year(1)[11]?.counts.anchors).toBeLessThan((months[11]?.counts.anchors ?? 0) / 2)
})
