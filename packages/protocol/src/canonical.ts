// Canonical JSON. Version 2 is a strict subset of RFC 8785. Version 1 is the older serialization for `result_hash`.

import { utf8 } from './bytes.ts'
import { compareCodePoints } from './order.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Its message names the value that cannot be written, and its path. */
export class CanonicalJsonError extends Error {
  override name = 'CanonicalJsonError'

  readonly reason: string
  readonly path: string

  constructor(reason: string, path = '') {
    super(`$${path}: ${reason}`)
    this.reason = reason
    this.path = path
  }
}

/** RFC 8785 without floats: keys by UTF-16 code unit, integers up to 2^53 - 1, no lone surrogates (EVID-05..07). */
export function canonicalJson(value: Json): string {
  return write(value, { sort: sortByCodeUnit, shape: NO_KEYS })
}

export function canonicalBytes(value: Json): Uint8Array {
  return utf8(canonicalJson(value))
}

/** The version-1 serialization. It differs only in its key order, which is by code point (Merkle rule 11). */
export function canonicalJsonV1(value: Json): string {
  return write(value, { sort: sortByCodePoint, shape: NO_KEYS })
}

type SortKeys = (keys: string[]) => string[]

/** The keys of an object: in their original order, sorted, and as JSON text. */
interface Shape {
  keys: readonly string[]
  sorted: readonly string[]
  /** The text `"key":` of each sorted key. */
  texts: readonly string[]
}

interface Writer {
  sort: SortKeys
  /** The shape of the previous object. Rows of a list share their keys, which are then sorted and checked only once. */
  shape: Shape
}

const NO_KEYS: Shape = { keys: [], sorted: [], texts: [] }

function write(value: Json, writer: Writer): string {
  switch (typeof value) {
    case 'string':
      return writeString(value)
    case 'number':
      if (!Number.isSafeInteger(value)) throw new CanonicalJsonError('not an integer within 2^53 - 1')
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? writeArray(value, writer) : writeObject(value as { [key: string]: Json }, writer)
    default:
      throw new CanonicalJsonError(`${typeof value} has no JSON form`)
  }
}

/** A fast test: true only if the JSON of a string is the string itself in quotes, which holds for most strings. */
export function isPlainText(text: string): boolean {
  return /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/.test(text)
}

function writeString(text: string): string {
  if (isPlainText(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new CanonicalJsonError('lone surrogate')
  return JSON.stringify(text)
}

function writeArray(items: readonly Json[], writer: Writer): string {
  let out = '['
  for (let i = 0; i < items.length; i++) {
    if (i > 0) out += ','
    out += write(items[i] as Json, writer)
  }
  return `${out}]`
}

function writeObject(object: { readonly [key: string]: Json }, writer: Writer): string {
  const { sorted, texts } = shapeOf(Object.keys(object), writer)
  let out = '{'
  let i = 0
  try {
    for (; i < sorted.length; i++) {
      if (i > 0) out += ','
      out += (texts[i] as string) + write(object[sorted[i] as string] as Json, writer)
    }
  } catch (error) {
    if (error instanceof CanonicalJsonError) throw new CanonicalJsonError(error.reason, `.${sorted[i]}${error.path}`)
    throw error
  }
  return `${out}}`
}

function shapeOf(keys: string[], writer: Writer): Shape {
  const { shape } = writer
  if (keys.length === shape.keys.length && keys.every((key, i) => key === shape.keys[i])) return shape
  const sorted = writer.sort([...keys])
  writer.shape = { keys, sorted, texts: sorted.map(writeKey) }
  return writer.shape
}

function writeKey(key: string): string {
  if (!key.isWellFormed()) throw new CanonicalJsonError('lone surrogate', `.${key}`)
  return `${writeString(key)}:`
}

/** Insertion sort, which is several times faster than `Array.sort` for the few keys of a typical object. */
function sortByCodeUnit(keys: string[]): string[] {
  if (keys.length > 16) return keys.sort()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string
    let at = i
    for (; at > 0 && (keys[at - 1] as string) > key; at--) keys[at] = keys[at - 1] as string
    keys[at] = key
  }
  return keys
}

function sortByCodePoint(keys: string[]): string[] {
  return keys.sort(compareCodePoints)
}
