import { describe, expect, it } from 'vitest'
import { bytesText, counted, durationText, short, timeText } from '../../src/output/quantities.ts'

describe('quantities as text', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '0.98 KiB'],
    [1536, '1.50 KiB'],
    [123_456, '121 KiB'],
    [5_368_709_120, '5.00 GiB'],
    [2 ** 53, '8192 TiB'],
  ])('%i bytes are %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text)
  })

  it.each([
    [-1, '0 seconds'],
    [0, '0 seconds'],
    [1, '1 second'],
    [59.6, '1 minute'],
    [3599, '59 minutes'],
    [200_000, '2 days'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text)
  })

  it('counts nouns, shortens ids and shows times without seconds', () => {
    expect([counted(1, 'file'), counted(1200, 'file')]).toEqual(['1 file', '1,200 files'])
    expect([short('abc', 3), short('abcd', 3)]).toEqual(['abc', 'abc…'])
    expect([timeText('2026-06-12T10:30:59Z'), timeText(null)]).toEqual(['2026-06-12 10:30 UTC', '-'])
  })
})
