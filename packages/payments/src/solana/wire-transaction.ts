// The bytes of a transaction of the primary chain: its signatures, and the message that they sign. Decoded by hand,
// because the library's decoder takes longer than verifying the signatures.

import { NodeProblem } from '../nodes/node-pool.ts'

export interface WireTransaction {
  /** One for each signer, in the order of the accounts. */
  signatures: readonly Uint8Array[]
  /** The signed bytes. */
  message: Uint8Array
  /** Keys of the accounts that the message names itself, signers first. */
  keys: readonly Uint8Array[]
  instructions: readonly WireInstruction[]
  /** The number of accounts from lookup tables. */
  loaded: { writable: number; readonly: number }
}

/** Numbers are indexes of accounts. */
interface WireInstruction {
  program: number
  accounts: readonly number[]
  data: Uint8Array
}

const SIGNATURE_BYTES = 64
const KEY_BYTES = 32
const VERSIONED = 0x80

/** Throws `NodeProblem` unless the bytes are one complete transaction, legacy or of version 0. */
export function decodeTransaction(bytes: Uint8Array): WireTransaction {
  let at = 0

  function takeBytes(length: number): Uint8Array {
    if (at + length > bytes.length) throw malformed()
    at += length
    return bytes.subarray(at - length, at)
  }
  const byte = () => takeBytes(1)[0] as number

  /** A number below 65536 in one to three bytes of seven bits, in its shortest form. */
  function compact(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const next = byte()
      value |= (next & 0x7f) << shift
      if (next === 0 && shift > 0) throw malformed()
      if (next < 0x80) break
      if (shift === 14) throw malformed()
    }
    if (value > 0xffff) throw malformed()
    return value
  }

  function list<T>(read: () => T): T[] {
    return Array.from({ length: compact() }, read)
  }

  function instruction(): WireInstruction {
    return { program: byte(), accounts: [...takeBytes(compact())], data: takeBytes(compact()) }
  }

  function lookup(): { writable: number; readonly: number } {
    takeBytes(KEY_BYTES)
    return { writable: takeBytes(compact()).length, readonly: takeBytes(compact()).length }
  }

  const signatures = list(() => takeBytes(SIGNATURE_BYTES))
  const start = at
  const isVersioned = (bytes[at] ?? 0) >= VERSIONED
  if (isVersioned && byte() !== VERSIONED) throw malformed()
  const signers = byte()
  const readonlySigners = byte()
  const readonlyOthers = byte()
  const keys = list(() => takeBytes(KEY_BYTES))
  takeBytes(KEY_BYTES) // the recent blockhash
  const instructions = list(instruction)
  const lookups = isVersioned ? list(lookup) : []
  const isConsistent =
    at === bytes.length &&
    signatures.length === signers &&
    readonlySigners < signers &&
    signers + readonlyOthers <= keys.length
  if (!isConsistent) throw malformed()
  return {
    signatures,
    message: bytes.subarray(start),
    keys,
    instructions,
    loaded: {
      writable: lookups.reduce((sum, { writable }) => sum + writable, 0),
      readonly: lookups.reduce((sum, { readonly }) => sum + readonly, 0),
    },
  }
}

function malformed(): NodeProblem {
  return new NodeProblem('a malformed transaction')
}
