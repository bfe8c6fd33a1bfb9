// The path and query of a request.

import { readPublicly } from '@svc/api/transfers'

/** Each value is one segment, except that `{+name}` is the rest of the path with its slashes. */
export function filledPath(template: string, params: Readonly<Record<string, string>> = {}): string {
  return template.replace(/\{(\+?)(\w+)\}/g, (_, rest: string, name: string) => {
    const value = params[name]
    if (!value) throw new TypeError(`${template} needs ${name}`)
    return rest ? value.split('/').map(segment).join('/') : segment(value)
  })
}

/** URL parsers resolve dot segments, encoded or not, so the request would go to another path than the signed one. */
function segment(text: string): string {
  if (text === '.' || text === '..') throw new RangeError(`${JSON.stringify(text)} cannot be part of a path`)
  return encodeURIComponent(text)
}

/** The query with its question mark, or an empty text. Lists become repeated names; undefined values are left out. */
export function queryText(query: Readonly<Record<string, unknown>> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, String(one)]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

/** The public URL of a file. `id` is that of the public link: the receipt id, unless the owner has rotated the link. */
export function publicUrl(gatewayUrl: string, id: string, filename: string): string {
  return gatewayUrl + filledPath(readPublicly.path, { receipt_id: id, filename })
}
