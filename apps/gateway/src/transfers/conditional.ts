// Conditions of a read (RFC 9110, 13.1). A tag is the text of the ETag header, quotes included; null when the answer
// has none. There is no Last-Modified, so conditions by date never hold.

/** Whether the client has these bytes already: 304. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string | null): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return etag !== null && opaqueTags(ifNoneMatch).includes(etag.replace(/^W\//, ''))
}

/** Whether a Range header counts: it does without a condition, and else for the very same bytes only. */
export function isRangeStillGood(ifRange: string | undefined, etag: string | null): boolean {
  if (ifRange === undefined) return true
  return etag !== null && !etag.startsWith('W/') && ifRange.trim() === etag
}

/** The quoted parts of a list of tags, weak ones alike. A comma may stand inside of a tag. */
function opaqueTags(list: string): string[] {
  return list.match(/"[^"]*"/g) ?? []
}
