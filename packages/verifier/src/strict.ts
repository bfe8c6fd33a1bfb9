// Strict JSON for the parts of a bundle, refused by code.

import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { printable } from './printable.ts'
import { RefusedBundle } from './refusal.ts'

export type JsonObject = { readonly [key: string]: Json }

export function strictJson(text: string, maxLength: number, what: string): Json {
  if (text.length > maxLength) throw new RefusedBundle('too_large', `${what} has over ${maxLength} characters`)
  try {
    return parseStrictJson(text, maxLength)
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
