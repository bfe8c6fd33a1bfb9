// A transaction of the primary chain as it is transmitted, legacy or version 0: signatures, then the message they sign.

import { fromBase58, toBase58 } from '@svc/protocol/bytes'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { Cursor } from '@svc/protocol/little-endian'

export interface WireTransaction {
  /** The transaction id: its first signature in base58. */
  id: string
  signers: string[]
  /** The instructions of the message itself, without those that programs invoke. */
  instructions: { program: string; data: Uint8Array }[]
}

const VERSIONED = 0x80

/** Null for bytes that are not a transaction, or for one that lacks a valid required signature. */
export function readWireTransaction(bytes: Uint8Array): WireTransaction | null {
  try {
    const cursor = new Cursor(bytes)
    const signatures = list(cursor, () => cursor.bytes(64))
    const message = cursor.rest()
    if (((message[0] as number) & VERSIONED) !== 0 && cursor.u8() !== VERSIONED) return null
    const signerCount = cursor.u8()
    cursor.bytes(2)
    const keys = list(cursor, () => toBase58(cursor.bytes(32)))
    cursor.bytes(32)
    const instructions = list(cursor, () => {
      const program = keys[cursor.u8()]
      if (program === undefined) throw new RangeError('no such account')
      list(cursor, () => cursor.u8())
      return { program, data: cursor.bytes(compactLength(cursor)) }
    })
    const signers = keys.slice(0, signerCount)
    const [id] = signatures
    if (!id || signatures.length !== signerCount) return null
    const isSigned = signers.every((key, i) => isSignedBy(key, message, signatures[i]))
    return isSigned ? { id: toBase58(id), signers, instructions } : null
  } catch {
    return null
  }
}

export function isTransactionId(text: string): boolean {
  return fromBase58(text, 64) !== null
}

function isSignedBy(signer: string, message: Uint8Array, signature: Uint8Array | undefined): boolean {
  return signature !== undefined && (ed25519PublicKeyFromBase58(signer)?.verify(message, signature) ?? false)
}

function list<T>(cursor: Cursor, item: () => T): T[] {
  return Array.from({ length: compactLength(cursor) }, item)
}

/** One to three bytes of seven bits each, lowest first. */
function compactLength(cursor: Cursor): number {
  let value = 0
  for (let shift = 0; shift < 21; shift += 7) {
    const next = cursor.u8()
    value |= (next & 0x7f) << shift
    if (next < 0x80) return value
  }
  throw new RangeError('not a length')
}
