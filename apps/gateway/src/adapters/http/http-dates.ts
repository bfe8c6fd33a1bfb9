// Dates in conditional requests, in the three forms of RFC 9110, section 5.6.7. A date in any other form is ignored.

import { parseHttpDate } from '@svc/s3/dates'

const RFC_850 = /^(Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d:\d\d:\d\d) GMT$/
const ASCTIME = /^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) ([ \d]\d) (\d\d:\d\d:\d\d) (\d{4})$/
/** Two-digit years from 70 on belong to the 20th century: no file is older than Unix time. */
const FIRST_YEAR = 70

/** Unix seconds; null when the text is not a date. The asctime form is in GMT without stating it. */
export function readHttpDate(text: string): number | null {
  const old = RFC_850.exec(text)
  if (old) {
    const [, name = '', day, month, year, clock] = old
    const century = Number(year) >= FIRST_YEAR ? 19 : 20
    return parseHttpDate(`${name.slice(0, 3)}, ${day} ${month} ${century}${year} ${clock} GMT`)
  }
  const ascTime = ASCTIME.exec(text)
  if (ascTime) {
    const [, name, month, day = '', clock, year] = ascTime
    if (day.startsWith('0')) return null
    return parseHttpDate(`${name}, ${day.replace(' ', '0')} ${month} ${year} ${clock} GMT`)
  }
  return parseHttpDate(text)
}
