// The forms that S3 writes times in. Times are unix seconds.

/** `20130524T000000Z`, as signatures write times. */
export function formatAmzDate(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/[-:]|\.\d+/g, '')
}

/** Null unless it is a time of the calendar in exactly that form. */
export function parseAmzDate(text: string): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)
  if (!parts) return null
  const [, year, month, day, hour, minute, second] = parts.map(Number) as [number, ...number[]]
  const seconds = Date.UTC(year as number, (month as number) - 1, day, hour, minute, second) / 1000
  // Date.UTC carries the 31st of April over to May, and takes years below 100 for those of the 20th century.
  return formatAmzDate(seconds) === text ? seconds : null
}

/** `Fri, 24 May 2013 00:00:00 GMT`, as HTTP headers write times. */
export function formatHttpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString()
}

/** Null unless it is a time of the calendar in exactly that form. */
export function parseHttpDate(text: string): number | null {
  const seconds = Date.parse(text) / 1000
  return Number.isInteger(seconds) && formatHttpDate(seconds) === text ? seconds : null
}

/** `2013-05-24T00:00:00.000Z`, as XML answers write times. */
export function formatXmlDate(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
