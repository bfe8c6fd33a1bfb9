import { describe, expect, it } from 'vitest'
import { isKeyOfTime } from '../src/keys.ts'

const first = { validFrom: 1_000_000, validTo: 2_000_000 }
const second = { validFrom: 2_000_000, validTo: null }
const all = [first, second]

describe('keys of a time', () => {
  it.each([
    [1_500_000, true, false],
    [2_500_000, false, true],
  ])('ADD-07 at %i', (time, ofFirst, ofSecond) => {
    expect([isKeyOfTime(first, all, time), isKeyOfTime(second, all, time)]).toEqual([ofFirst, ofSecond])
  })

  it('ADD-07 both sign for ten minutes around the change', () => {
    for (const time of [2_000_000 - 600, 2_000_000, 2_000_000 + 600]) {
      expect([isKeyOfTime(first, all, time), isKeyOfTime(second, all, time)]).toEqual([true, true])
    }
    expect(isKeyOfTime(second, all, 2_000_000 - 601)).toBe(false)
    expect(isKeyOfTime(first, all, 2_000_000 + 601)).toBe(false)
  })

  it('ADD-07 what is older than the list is of its first key', () => {
    expect([isKeyOfTime(first, all, 5), isKeyOfTime(second, all, 5)]).toEqual([true, false])
  })

  it('a key without period signs at any time, and then nothing is older than the list', () => {
    const always = { validFrom: null, validTo: null }
    expect([isKeyOfTime(always, [always], 5), isKeyOfTime(first, [always, first], 5)]).toEqual([true, false])
  })
})
