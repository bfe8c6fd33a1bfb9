import { describe, expect, it } from 'vitest'
import { untilText } from '../../src/purchases/usage-text.ts'

describe('the time that is left', () => {
  it.each([
    ['2027-11-17T23:59:10Z', '365 days left'],
    ['2027-11-17T10:00:00Z', '364 days left'],
    ['2026-11-19T12:00:00Z', '2 days left'],
    ['2026-11-18T23:59:59Z', '23 hours left'],
    ['2026-11-16T00:00:00Z', 'expired 2 days ago'],
  ])('T-56 until %s is %s', (expires_at, text) => {
    expect(untilText({ expires_at }, Date.parse('2026-11-18T00:00:00Z'))).toContain(text)
  })
})
