// A transaction of the primary chain as it travels, legacy or version 0: signatures, then the message they sign.

import { fromBase58, toBase58 } from '@svc/protocol/bytes'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'

export interface WireTransaction {
  /** The first signature, base58: the transaction's id. */
  id: string
  signers: string[]
  /** Those of the message itself; what programs call in turn is not in it. */
  instructions: { program: string; data: Uint8Array }[]
}

const VERSIONED = 0x80

/** Null for bytes that are not a transaction, or one that is not signed by all who must sign it. */
export function readWireTransaction(bytes: Uint8Array): WireTransaction | null {
  try {
    const reader = createReader(bytes)
    const signatures = reader.list(() => reader.take(64))
    const message = bytes.subarray(reader.at())
    if (((message[0] as number) & VERSIONED) !== 0 && reader.byte() !== VERSIONED) return null
    const signerCount = reader.byte()
    reader.take(2)
    const keys = reader.list(() => toBase58(reader.take(32)))
    reader.take(32)
    const instructions = reader.list(() => {
      const program = keys[reader.byte()]
      if (program === undefined) throw new RangeError('no such account')
      reader.list(() => reader.byte())
      return { program, data: reader.take(reader.length()) }
    })
    const signers = keys.slice(0, signerCount)
    const [id] = signatures
    if (!id || signatures.length !== signerCount) return null
    const isSigned = signers.every((key, i) => verifies(key, message, signatures[i]))
    return isSigned ? { id: toBase58(id), signers, instructions } : null
  } catch {
    return null
  }
}

export function isTransactionId(text: string): boolean {
  return fromBase58(text, 64) !== null
}

function verifies(signer: string, message: Uint8Array, signature: Uint8Array | undefined): boolean {
  return signature !== undefined && (ed25519PublicKeyFromBase58(signer)?.verify(message, signature) ?? false)
}

/** Reads forward; throws a RangeError past the end. */
function createReader(bytes: Uint8Array) {
  let at = 0

  function take(length: number): Uint8Array {
    if (at + length > bytes.length) throw new RangeError('cut short')
    at += length
    return bytes.subarray(at - length, at)
  }
  const byte = () => take(1)[0] as number

  /** One to three bytes of seven bits each, the lowest first. */
  function length(): number {
    let value = 0
    for (let shift = 0; shift < 21; shift += 7) {
      const next = byte()
      value |= (next & 0x7f) << shift
      if (next < 0x80) return value
    }
    throw new RangeError('not a length')
  }

  function list<T>(item: () => T): T[] {
    return Array.from({ length: length() }, item)
  }

  return { at: () => at, take, byte, length, list }
}
