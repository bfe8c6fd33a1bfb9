// Canonical JSON: our form equals theirs (RFC 8785), or we reject the document for a number that is not a safe integer.

import { fromBase64, fromUtf8 } from '@svc/protocol/bytes'
import { CanonicalJsonError, canonicalJson, type Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import type { CanonicalCase, NumberCase } from '../cases.ts'

export function canonicalProblem({ input, output }: CanonicalCase): string | null {
  const [given, expected] = [bytesOf(input), bytesOf(output)]
  // An editor may have ended the file with a newline.
  const wanted = fromUtf8(expected)?.replace(/\n$/, '')
  for (const bytes of [given, expected]) {
    const value = parseStrictJson(bytes, bytes.length)
    const written = writtenOf(value)
    if (written === null && numbersOf(value).every(Number.isSafeInteger)) return 'was refused, with safe integers only'
    if (written !== null && written !== wanted) return `was written ${written}, and theirs is ${wanted}`
  }
  return null
}

function bytesOf(base64: string): Uint8Array {
  return fromBase64(base64) as Uint8Array
}

/** JSON reads the text as the same double, and canonical JSON writes it like theirs, or rejects it. */
export function numberProblem({ bits, text }: NumberCase): string | null {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt(`0x${bits}`))
  const value = view.getFloat64(0)
  const read = parseStrictJson(text, text.length)
  // Zero is written without its sign.
  if (!Object.is(read, value) && !(read === 0 && value === 0)) return `${text} was read as ${read}, not ${value}`
  const written = writtenOf(value)
  const expected = Number.isSafeInteger(value) ? text : null
  return written === expected ? null : `was written ${written}, and theirs is ${expected ?? text}, which we refuse`
}

/** Null when it is rejected. */
function writtenOf(value: Json): string | null {
  try {
    return canonicalJson(value)
  } catch (error) {
    if (error instanceof CanonicalJsonError) return null
    throw error
  }
}

function numbersOf(value: Json): number[] {
  if (typeof value === 'number') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(numbersOf) : []
}
