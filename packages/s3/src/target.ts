// The target of a request: its path as sent, and its query.

import { s3Error } from './errors.ts'

interface Parameter {
  name: string
  value: string
}

export interface Target {
  /** As sent. */
  path: string
  /** Decoded. */
  parameters: readonly Parameter[]
}

export function readTarget(target: string): Target {
  // Requests to a proxy contain the whole URL (RFC 9112, 3.2.2). It is never signed.
  const origin = /^https?:\/\/[^/?]*/i.exec(target)?.[0] ?? ''
  const [path, query] = cut(target.slice(origin.length), '?')
  const pairs = query.split('&').filter((pair) => pair !== '')
  return { path: path || '/', parameters: pairs.map(readParameter) }
}

function readParameter(pair: string): Parameter {
  const [name, value] = cut(pair, '=')
  return { name: decodeQuery(name), value: decodeQuery(value) }
}

function decodeQuery(text: string): string {
  const decoded = decode(text.replaceAll('+', ' '))
  if (decoded === null) throw s3Error('InvalidURI', 'the query is not valid percent-encoding of UTF-8')
  return decoded
}

/** The signed form of the query: in full percent-encoding, sorted, and with `=` even without a value. */
export function canonicalQuery(parameters: readonly Parameter[]): string {
  return parameters
    .map(({ name, value }) => [encode(name), encode(value)] as const)
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The path in the encoding of signatures, whatever encoding was sent. */
export function encodePath(path: string): string {
  return path.split('/').map(reencode).join('/')
}

function reencode(segment: string): string {
  const decoded = decode(segment)
  return decoded === null ? segment : encode(decoded)
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function decode(text: string): string | null {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
