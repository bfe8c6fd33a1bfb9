import { problemWith } from '@svc/devnet/properties/made-up-input'
import { latin1, must } from '@svc/devnet/properties/rules'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatAmzDate, formatHttpDate, formatXmlDate, parseAmzDate, parseHttpDate } from '../src/dates.ts'
import { formatEtag } from '../src/etag.ts'

const times = fc.integer({ min: 0, max: 253_402_300_799 })

describe('times', () => {
  it('ADD-41 are written in the formats of signatures, headers and XML', () => {
    expect([formatAmzDate(1_369_353_600), formatHttpDate(1_369_353_600), formatXmlDate(1_369_353_600)]).toEqual([
      '20130524T000000Z',
      'Fri, 24 May 2013 00:00:00 GMT',
      '2013-05-24T00:00:00.000Z',
    ])
  })

  it('ADD-41 are read back', () => {
    fc.assert(
      fc.property(times, (seconds) => {
        expect(parseAmzDate(formatAmzDate(seconds))).toBe(seconds)
        expect(parseHttpDate(formatHttpDate(seconds))).toBe(seconds)
      }),
    )
  })

  it('T-93 are rejected when any part of them is wrong', () => {
    const amz = ['20130431T000000Z', '20130524T240000Z', '20130524T000060Z', '20130524t000000z', '2013-05-24T00:00:00Z']
    const http = ['yesterday', '1369353600', 'Mon, 24 May 2013 00:00:00 GMT', 'Fri, 24 May 2013 00:00:00 +0000']
    expect([...amz, ''].filter((text) => parseAmzDate(text) !== null)).toEqual([])
    expect([...http, ''].filter((text) => parseHttpDate(text) !== null)).toEqual([])
  })
})

it('T-129 no made-up input breaks the rules of times in signatures and headers', async () => {
  expect(
    await problemWith({
      examples: ['Sun, 06 Nov 1994 08:49:37 GMT', '20130524T000000Z', '20240229T235959Z'],
      words: [...'Sun Mon Nov Feb 29 31 00 24 60 GMT UTC Z T - +0100 99 9999'.split(' '), ', '],
      maxBytes: 4096,
      rule(input) {
        const given = latin1(input)
        const [amz, http] = [parseAmzDate(given), parseHttpDate(given)]
        if (amz !== null) must(formatAmzDate(amz) === given, 'two texts of a signature mean one time')
        if (http !== null) must(formatHttpDate(http) === given, 'two texts of a header mean one time')
      },
    }),
  ).toBeNull()
})

describe('ETags', () => {
  it('ADD-41 are not read as an MD5', () => {
    expect(formatEtag('ab'.repeat(32))).toBe(`"${'ab'.repeat(16)}-1"`)
  })
})
