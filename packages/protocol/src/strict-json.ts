// A JSON parser for signed documents (ADD-05). It refuses input on which parsers disagree: duplicate keys, invalid
// UTF-8, a byte order mark, numbers beyond a double, and nesting that is deep enough to exhaust a stack. A limit on the
// number of values bounds the time that a short but hostile document takes.

import { fromUtf8 } from './bytes.ts'
import type { Json } from './canonical.ts'

const MAX_DEPTH = 32

export class StrictJsonError extends Error {
  override name = 'StrictJsonError'
}

/** `depth`: how many levels surround the text, if it is part of a document. */
export function parseStrictJson(input: string | Uint8Array, maxBytes: number, maxValues = Infinity, depth = 0): Json {
  if (input.length > maxBytes) throw new StrictJsonError(`longer than ${maxBytes} bytes`)
  const text = typeof input === 'string' ? input : fromUtf8(input)
  if (text === null) throw new StrictJsonError('not UTF-8')
  return readPlain(text, maxValues, depth) ?? new Reader(text, maxValues).document(depth)
}

/** A longer document could contain so many values that native code takes long to build them. */
const MAX_PLAIN_LENGTH = 4096

/**
 * Reads a short document that `JSON.stringify` would write in the same way. Such text has no duplicate key and no
 * number beyond a double, so the engine's own parser, which is many times faster, reads it strictly. Returns undefined
 * for any other text. Text with a backslash is left to the `Reader`, because engines have misread escaped keys.
 */
function readPlain(text: string, maxValues: number, depth: number): Json | undefined {
  if (text.length > MAX_PLAIN_LENGTH || text.includes('\\')) return undefined
  try {
    const value = JSON.parse(text) as Json
    const isPlain = JSON.stringify(value) === text && countValues(value, depth + 1) <= maxValues
    return isPlain ? value : undefined
  } catch {
    return undefined
  }
}

/** Throws if the value is nested too deeply. */
function countValues(value: Json, depth: number): number {
  if (value === null || typeof value !== 'object') return 1
  if (depth > MAX_DEPTH) throw new StrictJsonError(`nested deeper than ${MAX_DEPTH}`)
  let count = 1
  for (const item of Object.values(value)) count += countValues(item, depth + 1)
  return count
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS: readonly (readonly [string, Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]

class Reader {
  readonly #text: string
  readonly #maxValues: number
  #at = 0
  #values = 0

  constructor(text: string, maxValues: number) {
    this.#text = text
    this.#maxValues = maxValues
  }

  document(depth: number): Json {
    const value = this.#value(depth)
    this.#space()
    if (this.#at !== this.#text.length) throw this.#error('text after the end of the document')
    return value
  }

  #value(depth: number): Json {
    if (++this.#values > this.#maxValues) throw this.#error(`more than ${this.#maxValues} values`)
    this.#space()
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth + 1)
      case '[':
        return this.#array(depth + 1)
      case '"':
        return this.#string()
    }
    for (const [word, value] of WORDS) {
      if (!this.#text.startsWith(word, this.#at)) continue
      this.#at += word.length
      return value
    }
    return this.#number()
  }

  #object(depth: number): Json {
    this.#enter(depth)
    const object: Record<string, Json> = {}
    if (this.#take('}')) return object
    do {
      this.#space()
      const key = this.#string()
      if (Object.hasOwn(object, key)) throw this.#error(`key ${JSON.stringify(key)} occurs twice`)
      if (!this.#take(':')) throw this.#error('expected ":"')
      // Plain assignment of "__proto__" would set the prototype instead of a member.
      Object.defineProperty(object, key, {
        value: this.#value(depth),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    } while (this.#take(','))
    if (!this.#take('}')) throw this.#error('expected "," or "}"')
    return object
  }

  #array(depth: number): Json {
    this.#enter(depth)
    const items: Json[] = []
    if (this.#take(']')) return items
    do items.push(this.#value(depth))
    while (this.#take(','))
    if (!this.#take(']')) throw this.#error('expected "," or "]"')
    return items
  }

  #string(): string {
    if (this.#text[this.#at] !== '"') throw this.#error('expected a string')
    const end = this.#closingQuote()
    const token = this.#text.slice(this.#at, end + 1)
    try {
      return JSON.parse(token)
    } catch {
      throw this.#error('a string has an invalid escape or a control character')
    } finally {
      this.#at = end + 1
    }
  }

  /** Searches in a loop, because a regular expression over a long string overflows the engine's stack. */
  #closingQuote(): number {
    const { length } = this.#text
    for (let at = this.#at + 1; at < length; at++) {
      const code = this.#text.charCodeAt(at)
      if (code === QUOTE) return at
      if (code === BACKSLASH) at++
    }
    throw this.#error('a string is not terminated')
  }

  #number(): number {
    const token = this.#match(NUMBER)
    if (token === null || token === '') throw this.#error('expected a value')
    const value = Number(token)
    if (!Number.isFinite(value)) throw this.#error('number out of range')
    return value
  }

  #enter(depth: number): void {
    if (depth > MAX_DEPTH) throw this.#error(`nested deeper than ${MAX_DEPTH}`)
    this.#at++
  }

  #take(char: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #space(): void {
    this.#match(SPACE)
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (!found) return null
    this.#at = pattern.lastIndex
    return found[0]
  }

  #error(problem: string): StrictJsonError {
    return new StrictJsonError(`${problem} at character ${this.#at}`)
  }
}
