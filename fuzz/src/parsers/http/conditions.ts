// Conditional requests. An example is JSON: the headers of a request.

import { checkConditions, isRangeStillGood, needsOurTags } from '@svc/gateway/adapters/http/range-requests'
import { json, must, type Parser } from '../engine/parser.ts'

const ETAG = '"sha256:e3b0c442"'
const NAMES = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range']
const MODIFIED_AT = Date.parse('2026-06-01T12:00:00Z')

export function open(): Parser {
  return {
    seeds: [
      JSON.stringify({ 'if-match': `"a", ${ETAG}`, 'if-range': ETAG }),
      JSON.stringify({ 'if-none-match': `W/${ETAG}, "b,c"`, 'if-modified-since': 'Mon, 01 Jun 2026 12:00:00 GMT' }),
      JSON.stringify({ 'if-none-match': '*', 'if-unmodified-since': 'Mon, 01 Jun 2026 11:59:59 GMT' }),
    ],
    words: ['*', 'W/', 'w/', '"', ',', ', ', ETAG, '"object:1"', 'Mon, 01 Jun 2026 12:00:00 GMT', ...NAMES],
    isJson: true,
    check(input) {
      const given = json(input)
      if (typeof given !== 'object' || given === null) return
      const headers = Object.fromEntries(
        Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
      const validators = { etags: [ETAG], modifiedAt: MODIFIED_AT }
      const outcome = checkConditions(headers, validators)
      must(['met', 'not-modified', 'failed'].includes(outcome), 'has an outcome of its own')
      const match = headers['if-match']
      const hasStrong =
        match?.trim() === '*' ||
        match?.split(ETAG).some((before, i, all) => i < all.length - 1 && !before.endsWith('W/'))
      if (match !== undefined && !hasStrong) must(outcome === 'failed', 'If-Match is met without the tag')
      if (!NAMES.slice(0, 4).some((name) => name in headers)) must(outcome === 'met', 'fails without a condition')
      const range = headers['if-range']
      must(isRangeStillGood(range, validators) === (range === undefined || range.trim() === ETAG), 'If-Range is met')
      needsOurTags(headers)
    },
  }
}
