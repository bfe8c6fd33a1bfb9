import type { ReadonlyUint8Array } from '@solana/kit'
import { ProgramFailure } from './failure.ts'

/** Bytes of each type of field by its code: u8 to u128, i8 to i128, bool, char. */
const FIXED = [1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 1, 4]
/** Bytes of an element by the code of its list, from 12 on: string, lists of u8 to u128, of i8 to i128, of bool, of char. */
const ELEMENTS = [1, 1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 1, 4]
const LIST_OF_STRINGS = FIXED.length + ELEMENTS.length

export function isFieldType(code: number): boolean {
  return code <= LIST_OF_STRINGS
}

/** An attestation's data must be exactly the fields of its schema. The values are not checked. */
export function requireLayout(data: ReadonlyUint8Array, layout: Iterable<number>) {
  let end = 0
  for (const code of layout) {
    end = endOfField(data, end, code)
    if (end > data.length) break
  }
  if (end !== data.length)
    throw new ProgramFailure('InvalidAttestationData', `by the layout the data end at ${end}, not at ${data.length}`)
}

function endOfField(data: ReadonlyUint8Array, start: number, code: number): number {
  if (code < FIXED.length) return start + FIXED[code]!
  const length = lengthAt(data, start)
  if (code < LIST_OF_STRINGS) return start + 4 + length * ELEMENTS[code - FIXED.length]!
  let end = start + 4
  for (let left = length; left > 0; left--) end += 4 + lengthAt(data, end)
  return end
}

/** Like the program, panics when a length is cut off. */
function lengthAt(data: ReadonlyUint8Array, start: number): number {
  if (start + 4 > data.length) throw new ProgramFailure('Panic', `the data end at ${data.length}, inside a length`)
  return Buffer.from(data).readUInt32LE(start)
}
