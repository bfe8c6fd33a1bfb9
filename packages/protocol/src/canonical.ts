// Canonical JSON. Version 2 is a strict subset of RFC 8785; version 1 is the older serialization behind `result_hash`.

import { utf8 } from './bytes.ts'
import { compareCodePoints } from './order.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Names the value that cannot be written and where it is. */
export class CanonicalJsonError extends Error {
  override name = 'CanonicalJsonError'
}

/** RFC 8785 without floats: keys by UTF-16 code unit, integers up to 2^53 - 1, no lone surrogates (EVID-05..07). */
export function canonicalJson(value: Json): string {
  return write(value, '$', undefined)
}

export function canonicalBytes(value: Json): Uint8Array {
  return utf8(canonicalJson(value))
}

/** The version-1 serialization: as above, but keys by code point (Merkle rule 11). */
export function canonicalJsonV1(value: Json): string {
  return write(value, '$', compareCodePoints)
}

type KeyOrder = typeof compareCodePoints | undefined

function write(value: Json, at: string, order: KeyOrder): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, at)
    case 'number':
      if (!Number.isSafeInteger(value)) throw new CanonicalJsonError(`${at}: not an integer within 2^53 - 1`)
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value)
        ? writeArray(value, at, order)
        : writeObject(value as { [key: string]: Json }, at, order)
    default:
      throw new CanonicalJsonError(`${at}: ${typeof value} has no JSON form`)
  }
}

/** A fast test, true for most strings: whether the JSON text of a string is just the string between quotes. */
export function isPlainText(text: string): boolean {
  return /^[ !#-[\]-~]*$/.test(text)
}

function writeString(text: string, at: string): string {
  if (isPlainText(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new CanonicalJsonError(`${at}: lone surrogate`)
  return JSON.stringify(text)
}

function writeArray(items: readonly Json[], at: string, order: KeyOrder): string {
  let out = '['
  for (let i = 0; i < items.length; i++) {
    if (i > 0) out += ','
    out += write(items[i] as Json, at, order)
  }
  return `${out}]`
}

function writeObject(object: { readonly [key: string]: Json }, at: string, order: KeyOrder): string {
  const keys = Object.keys(object).sort(order)
  let out = '{'
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    if (i > 0) out += ','
    out += `${writeString(key, at)}:${write(object[key] as Json, `${at}.${key}`, order)}`
  }
  return `${out}}`
}
