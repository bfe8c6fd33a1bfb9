// The formats in which S3 writes times. Times are unix seconds.

/** `20130524T000000Z`, the format of signatures. */
export function formatAmzDate(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/[-:]|\.\d+/g, '')
}

/** Null unless the text is a valid date in exactly that format. */
export function parseAmzDate(text: string): number | null {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)
  if (!parts) return null
  const [, year, month, day, hour, minute, second] = parts.map(Number) as [number, ...number[]]
  const seconds = Date.UTC(year as number, (month as number) - 1, day, hour, minute, second) / 1000
  // Date.UTC carries the 31st of April over to May, and reads years below 100 as the 20th century.
  return formatAmzDate(seconds) === text ? seconds : null
}

/** `Fri, 24 May 2013 00:00:00 GMT`, the format of HTTP headers. */
export function formatHttpDate(seconds: number): string {
  return new Date(seconds * 1000).toUTCString()
}

/** Null unless the text is a valid date in exactly that format. */
export function parseHttpDate(text: string): number | null {
  const seconds = Date.parse(text) / 1000
  return Number.isInteger(seconds) && formatHttpDate(seconds) === text ? seconds : null
}

/** `2013-05-24T00:00:00.000Z`, the format of XML responses. */
export function formatXmlDate(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
