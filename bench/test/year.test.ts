import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LAMPORTS_PER_ANCHOR } from '../src/year/customers.ts'
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

it('ADD-40 T-34 the default daily budgets pay for the last day of a year of 10,000 lockers five times over', () => {
  const settings = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')
  const setting = (name: string) => Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(settings)?.[1])
  const { day } = simulateYear({ lockers: 10_000, anchorsPerDay: 48, random: randomNumbers() }).months[11]!
  const checkpoints = 86_400 / setting('LOG_ANCHOR_SECONDS')
  const fees = (day.statements + day.purchases + checkpoints) * LAMPORTS_PER_ANCHOR
  expect(5 * fees).toBeLessThan(setting('PUBLICATION_LAMPORTS_PER_DAY'))
  expect(5 * day.purchases * RENT_LAMPORTS).toBeLessThan(setting('SAS_RENT_LAMPORTS_PER_DAY'))
})

/** Of an account of the attestation registry. */
const RENT_LAMPORTS = 3_292_080
