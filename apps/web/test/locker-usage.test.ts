import { expect, it } from 'vitest'
import { usageWarnings } from '../src/pages/locker/usage-warnings.ts'

it('T-56 warns as the command line does: from 80 % and from 30 days before the end', () => {
  const now = Date.parse('2026-11-16T12:00:00Z')
  const half = { used: 5, bought: 10 }
  const usage = { expires_at: '2027-11-16T12:00:00Z', bytes: half, files: half, egress: half }
  expect(usageWarnings(usage, now)).toEqual([])
  expect(usageWarnings({ ...usage, files: { used: 799, bought: 1000 } }, now)).toEqual([])
  expect(usageWarnings({ ...usage, files: { used: 800, bought: 1000 } }, now)).toEqual([
    'You have used 80% of the file limit. Renewing adds to it.',
  ])
  expect(usageWarnings({ ...usage, expires_at: '2026-12-17T12:00:01Z' }, now)).toEqual([])
  expect(usageWarnings({ ...usage, expires_at: '2026-11-17T12:00:00Z' }, now)[0]).toMatch(
    /^This locker expires in 1 day/,
  )
  expect(usageWarnings({ ...usage, expires_at: '2026-11-16T11:00:00Z' }, now)[0]).toMatch(/has expired/)
})
