import { fromBase58, fromBase64, fromHex, toBase58, toBase64, toHex } from '@svc/protocol/bytes'
import type { EncodingCase } from '../cases.ts'

/** Bytes have exactly one text here: lenient forms are rejected, and so are invalid ones. */
export function encodingProblem({ encoding, text, bytes }: EncodingCase): string | null {
  const expected = bytes === null ? null : (fromHex(bytes) as Uint8Array)
  if (encoding === 'base58') {
    if (expected === null) return null
    if (toBase58(expected) !== text) return `was written ${toBase58(expected)}`
    const read = fromBase58(text, expected.length)
    const shorter = expected.length > 0 ? fromBase58(text, expected.length - 1) : null
    if (shorter || fromBase58(text, expected.length + 1)) return 'was read with another length'
    return read && toHex(read) === bytes ? null : `was read as ${read && toHex(read)}`
  }
  const read = fromBase64(text)
  const isOneText = expected !== null && toBase64(expected) === text
  if ((read !== null) !== isOneText) return isOneText ? 'was refused' : `was read as ${read && toHex(read)}`
  return read === null || toHex(read) === bytes ? null : `was read as ${toHex(read)}, not ${bytes}`
}
