import type { Terms } from '@svc/api/purchases'
import { isoSeconds, unixSeconds } from '@svc/protocol/evidence'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extended, unitsOf } from '../../src/lockers/terms.ts'

const DAY = 86_400
const NOW = 1_800_000_000
const UNIT: Terms = { storage_limit_bytes: 1_000_000, file_limit: 100, egress_included_bytes: 500, ttl_days: 365 }

const unitsOfStorage = (units: number, ttl_days = 365): Terms => ({
  storage_limit_bytes: UNIT.storage_limit_bytes * units,
  file_limit: UNIT.file_limit * units,
  egress_included_bytes: UNIT.egress_included_bytes * units,
  ttl_days,
})

/** A locker with this many units and this many days left. */
const locker = (units: number, daysLeft: number) => ({
  terms: JSON.stringify(unitsOfStorage(units)),
  expires_at: isoSeconds(NOW + daysLeft * DAY),
})

function renewed(units: number, daysLeft: number, bought: number) {
  const { terms, expires_at } = extended(locker(units, daysLeft), unitsOfStorage(bought), NOW)
  return {
    units: terms.storage_limit_bytes / UNIT.storage_limit_bytes,
    days: (unixSeconds(expires_at)! - NOW) / DAY,
    terms,
  }
}

describe('a locker that is renewed', () => {
  it('ADD-17 starts its new term at the end of the old one when its size is the same', () => {
    expect(renewed(1, 300, 1)).toMatchObject({ units: 1, days: 665 })
    expect(renewed(7, 1, 7)).toMatchObject({ units: 7, days: 366 })
  })

  it('ADD-17 starts now, with the newly bought size, when it has ended', () => {
    expect(renewed(10, -400, 1)).toMatchObject({ units: 1, days: 365 })
    expect(renewed(1, 0, 3)).toMatchObject({ units: 3, days: 365 })
  })

  it('ADD-17 grows immediately with more units, and with fewer units keeps its size for a shorter time', () => {
    expect(renewed(1, 300, 10)).toMatchObject({ units: 10, days: 395 })
    expect(renewed(10, 300, 1)).toMatchObject({ units: 10, days: 336.5 })
  })

  it('ADD-17 T-34 adds egress, and bytes that may be delivered to a provider that never removes any', () => {
    expect(renewed(1, 300, 2).terms.egress_included_bytes).toBe(1500)
    const before = { ...locker(1, 10), terms: JSON.stringify({ ...UNIT, settled_limit_bytes: 1_000_000 }) }
    const { terms } = extended(before, { ...UNIT, settled_limit_bytes: 1_000_000 }, NOW)
    expect(terms).toMatchObject({ settled_limit_bytes: 2_000_000, storage_limit_bytes: 1_000_000 })
  })

  it('ADD-17 T-57 never ends earlier: with much time left, a large purchase adds space for that time', () => {
    expect(renewed(1, 3650, 100)).toMatchObject({ units: 11, days: 3650 })
  })

  it('T-57 gets no more byte-days or file-days than were bought, and loses nothing, in any order of purchases', () => {
    const purchase = fc.record({ units: fc.integer({ min: 1, max: 1000 }), days: fc.integer({ min: 1, max: 3650 }) })
    fc.assert(
      fc.property(fc.array(purchase, { minLength: 1, maxLength: 8 }), (purchases) => {
        let before = { size: 0, files: 0, seconds: 0 }
        let locker = { terms: JSON.stringify(unitsOfStorage(1)), expires_at: isoSeconds(NOW) }
        let bought = 0
        for (const { units, days } of purchases) {
          const { terms, expires_at } = extended(locker, unitsOfStorage(units, days), NOW)
          const after = {
            size: terms.storage_limit_bytes / UNIT.storage_limit_bytes,
            files: terms.file_limit / UNIT.file_limit,
            seconds: unixSeconds(expires_at)! - NOW,
          }
          bought += units * days * DAY
          // The factor allows for floating-point errors.
          expect(after.size * after.seconds).toBeLessThanOrEqual(bought * (1 + 1e-9))
          expect(after.files * after.seconds).toBeLessThanOrEqual(bought * (1 + 1e-9))
          for (const key of ['size', 'files', 'seconds'] as const)
            expect(after[key]).toBeGreaterThanOrEqual(before[key])
          before = after
          locker = { terms: JSON.stringify(terms), expires_at }
        }
      }),
      { numRuns: 200 },
    )
  })

  it('ADD-17 ends by the year 9999', () => {
    expect(extended(locker(1, 1), unitsOfStorage(1, 10_000_000), NOW).expires_at).toBe('9999-12-31T23:59:59Z')
  })
})

it('ADD-17 the units that keep the size of a locker follow from its bought terms and the current offer', () => {
  expect(unitsOf(unitsOfStorage(3), UNIT)).toBe(3)
  expect(unitsOf(unitsOfStorage(3), { ...UNIT, file_limit: 50 })).toBe(6)
  expect(unitsOf(unitsOfStorage(1), { ...UNIT, storage_limit_bytes: 1e9, file_limit: 1e9 })).toBe(1)
})
