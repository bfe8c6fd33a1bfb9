// The query of a request. A value that is not percent-encoded UTF-8 is rejected: most parsers accept it unchanged, and
// `%ff` would then be another spelling of `%25ff`.

import type { TObject, TSchema } from 'typebox'
import { ValidationError } from '../service-error.ts'

/** Null for text that cannot be read. */
type Value = string | null

/** Each name with its value, or with all values when it is repeated. A name that cannot be read is omitted. */
export type RawQuery = Readonly<Record<string, Value | Value[]>>

export function parseQuery(text: string): RawQuery {
  const query: Record<string, Value | Value[]> = Object.create(null)
  if (text === '') return query
  for (const pair of text.split('&')) {
    const at = pair.indexOf('=')
    const name = decoded(at === -1 ? pair : pair.slice(0, at))
    if (name === null || name === '') continue
    const value = at === -1 ? '' : decoded(pair.slice(at + 1))
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (Array.isArray(before)) before.push(value)
    else query[name] = [before, value]
  }
  return query
}

function decoded(text: string): Value {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return null
  }
}

/** Converts the text of query values to the declared types, and leaves values that do not fit unchanged. */
export function readQuery(schema: TObject, query: RawQuery): Record<string, unknown> {
  const read: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = query[name]
    if (value === undefined) continue
    if (value === null || (Array.isArray(value) && value.includes(null)))
      throw new ValidationError({ loc: ['query', name], msg: 'must be UTF-8 in percent encoding' })
    read[name] = readText(property as TSchema & { type?: string }, value)
  }
  return read
}

function readText(schema: { type?: string }, value: unknown): unknown {
  if (schema.type === 'array') return Array.isArray(value) ? value : [value]
  if (typeof value !== 'string') return value
  if (schema.type === 'integer' && /^(?!-0)-?\d{1,15}$/.test(value)) return Number(value)
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}
