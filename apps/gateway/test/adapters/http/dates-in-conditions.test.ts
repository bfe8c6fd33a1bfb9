import { problemWith } from '@svc/devnet/properties/made-up-input'
import { latin1, must } from '@svc/devnet/properties/rules'
import { expect, it } from 'vitest'
import { checkConditions } from '../../../src/adapters/http/range-requests.ts'

it('T-129 no made-up input breaks the rules of dates in conditions', async () => {
  expect(
    await problemWith({
      examples: [
        'Sun, 06 Nov 1994 08:49:37 GMT',
        'Sunday, 06-Nov-94 08:49:37 GMT',
        'Sun Nov  6 08:49:37 1994',
        'Thu, 29 Feb 2024 23:59:59 GMT',
      ],
      words: [...'Sun Mon Nov Feb 29 31 00 24 60 GMT UTC Z T - +0100 99 9999'.split(' '), ', '],
      maxBytes: 4096,
      rule(input) {
        const given = latin1(input)
        const time = modelOf(given)
        // One second later than the date, the file has changed since; at the date it has not.
        for (const [seconds, isAfter] of [
          [1, true],
          [0, false],
        ] as const) {
          const validators = { etags: [], modifiedAt: (time ?? 0) + seconds * 1000 }
          const outcome = checkConditions({ 'if-unmodified-since': given }, validators)
          must(outcome === (time !== null && isAfter ? 'failed' : 'met'), 'the date differs from RFC 9110')
        }
      },
    }),
  ).toBeNull()
})

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** Parses the three forms of RFC 9110, 5.6.7. Null unless the parsed date formats back to the same text. */
function modelOf(given: string): number | null {
  const parts = given.split(/[ ,:-]+/)
  const [name, a = '', b = '', c = ''] = parts
  const isAscTime = MONTHS.includes(a)
  const [day, month, yearText, clock] = isAscTime
    ? [b, a, parts[6] ?? '', parts.slice(3, 6)]
    : [a, b, c, parts.slice(4, 7)]
  if (name === undefined || ![day, yearText, ...clock].every((part) => /^\d+$/.test(part))) return null
  const [hour, minute, second] = clock.map(Number) as [number, number, number]
  const year = yearText.length === 2 ? fullYear(Number(yearText)) : Number(yearText)
  const date = new Date(0)
  date.setUTCFullYear(year, MONTHS.indexOf(month), Number(day))
  date.setUTCHours(hour, minute, second)
  return Number.isFinite(date.getTime()) && formsOf(date).includes(given) ? date.getTime() : null
}

/** A two-digit year is between 1970 and 2069: no file is older than 1970. */
function fullYear(year: number): number {
  return year >= 70 ? 1900 + year : 2000 + year
}

function formsOf(date: Date): string[] {
  const two = (value: number) => String(value).padStart(2, '0')
  const [day, month, year] = [date.getUTCDate(), MONTHS[date.getUTCMonth()]!, date.getUTCFullYear()]
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':')
  const name = DAYS[date.getUTCDay()]!
  // No file has a year below 100 or above 9999.
  if (year < 100 || year > 9999) return []
  const fourDigits = String(year).padStart(4, '0')
  return [
    `${name.slice(0, 3)}, ${two(day)} ${month} ${fourDigits} ${clock} GMT`,
    `${name}, ${two(day)}-${month}-${fourDigits.slice(2)} ${clock} GMT`,
    `${name.slice(0, 3)} ${month} ${String(day).padStart(2, ' ')} ${clock} ${fourDigits}`,
  ]
}
