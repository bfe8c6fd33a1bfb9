// Untrusted text of a bundle or a node: it is read strictly, refused with a code, and made printable before it goes
// into a sentence for a person.

import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'

/** Why input cannot be read as an evidence bundle, so that there are no facts about it. */
export type RefusalCode =
  | 'too_large'
  | 'not_strict_json'
  | 'not_a_bundle'
  | 'unsupported_version'
  | 'empty_file_list'
  | 'bad_file_entry'
  | 'colon_in_filename'
  | 'duplicate_filename'
  | 'unsorted_file_list'
  | 'bad_file_proof'
  | 'bad_leaf_hash'

export interface Refusal {
  code: RefusalCode
  why: string
}

/** Thrown while a bundle is read; `verifyBundle` returns it as a value. */
export class RefusedBundle extends Error {
  override name = 'RefusedBundle'
  readonly code: RefusalCode

  constructor(code: RefusalCode, why: string) {
    super(why)
    this.code = code
  }
}

export type JsonObject = { readonly [key: string]: Json }

/** Bytes must be UTF-8. `depth`: how many levels surround the text, if it is part of a document. */
export function strictJson(text: string | Uint8Array, maxLength: number, what: string, depth = 0): Json {
  if (text.length > maxLength) throw new RefusedBundle('too_large', `${what} has over ${maxLength} characters`)
  try {
    return parseStrictJson(text, maxLength, Infinity, depth)
  } catch (error) {
    throw new RefusedBundle(
      'not_strict_json',
      `${what} is not strict JSON: ${printable((error as Error).message, 200)}`,
    )
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The maximum number of unknown fields that are listed. */
export const MAX_FIELDS = 50

/** The paths of the fields that an object has besides these. Null values do not count. */
export function otherFields(object: JsonObject, known: readonly string[], prefix = ''): string[] {
  const others = Object.keys(object).filter((key) => !known.includes(key) && object[key] !== null)
  return others.slice(0, MAX_FIELDS).map((key) => prefix + printable(key, 80))
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** One short line, without characters that control terminals or change the text direction. */
export function printable(text: string, maxLength: number): string {
  const start = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
  return start.replace(INVISIBLE, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`)
}

export function quoted(text: string): string {
  return `"${printable(text, 80)}"`
}
