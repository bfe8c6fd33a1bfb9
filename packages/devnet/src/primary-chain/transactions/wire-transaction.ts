import {
  type Address,
  address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getAddressDecoder,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  type ReadonlyUint8Array,
  type Signature,
  type Transaction,
} from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { toBase58 } from '@svc/protocol/bytes'
import type { AccountKey, GetAccount } from './accounts.ts'

// litesvm's feature set does not support version 1.
export type CompiledMessage = Exclude<CompiledTransactionMessage, { version: 1 }> &
  CompiledTransactionMessageWithLifetime

/** A transaction as sent, with its parts decoded once. */
export interface WireTransaction {
  readonly bytes: Uint8Array
  readonly transaction: Transaction
  readonly message: CompiledMessage
  readonly signatures: readonly Signature[]
}

export interface LoadedAddresses {
  readonly writable: readonly Address[]
  readonly readonly: readonly Address[]
}

export function decodeWireTransaction(bytes: Uint8Array): WireTransaction {
  const transaction = getTransactionDecoder().decode(bytes)
  const message = decodeMessage(transaction.messageBytes)
  const base58 = getBase58Decoder()
  const signatures = Object.values(transaction.signatures).map(
    (signature) => base58.decode(signature ?? new Uint8Array(64)) as Signature, // 64 bytes in base58
  )
  return { bytes, transaction, message, signatures }
}

export function decodeMessage(bytes: ReadonlyUint8Array): CompiledMessage {
  const message = getCompiledTransactionMessageDecoder().decode(bytes)
  if (message.version === 1) throw new Error('transaction version 1 is not supported')
  // kit's decoder is lenient, but litesvm crashes the process on bytes that are not exactly a message.
  const exact = getCompiledTransactionMessageEncoder().encode(message)
  if (!Buffer.from(exact).equals(Buffer.from(bytes))) throw new Error('the message is truncated or has extra bytes')
  sanitize(message)
  return message
}

/** The rules on offsets that a node checks first. */
function sanitize(message: CompiledMessage) {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
  const statics = message.staticAccounts.length
  const lookups = message.version === 0 ? (message.addressTableLookups ?? []) : []
  const loadedCounts = lookups.map(
    ({ writableIndexes, readonlyIndexes }) => writableIndexes.length + readonlyIndexes.length,
  )
  const total = loadedCounts.reduce((sum, count) => sum + count, statics)
  const isSane =
    numReadonlySignerAccounts < numSignerAccounts &&
    numSignerAccounts + numReadonlyNonSignerAccounts <= statics &&
    total <= 256 &&
    loadedCounts.every((count) => count > 0) &&
    message.instructions.every(
      ({ programAddressIndex, accountIndices = [] }) =>
        programAddressIndex > 0 && programAddressIndex < statics && accountIndices.every((index) => index < total),
    )
  if (!isSane) throw new Error('Transaction failed to sanitize accounts offsets correctly')
}

const LOOKUP_TABLE_META_BYTES = 56

/** The addresses loaded from lookup tables. A missing table or index is skipped: execution refuses it later. */
export function loadAddresses(message: CompiledMessage, getAccount: GetAccount): LoadedAddresses {
  const writable: Address[] = []
  const readonly: Address[] = []
  const lookups = message.version === 0 ? (message.addressTableLookups ?? []) : []
  for (const lookup of lookups) {
    const table = getAccount(lookup.lookupTableAddress)
    if (table === null) continue
    const load = (index: number) => {
      const start = LOOKUP_TABLE_META_BYTES + index * 32
      return table.data.length < start + 32 ? [] : [getAddressDecoder().decode(table.data, start)]
    }
    writable.push(...lookup.writableIndexes.flatMap(load))
    readonly.push(...lookup.readonlyIndexes.flatMap(load))
  }
  return { writable, readonly }
}

/** All accounts of a transaction in the order that instruction indexes count: static, loaded writable, loaded readonly. */
export function accountKeys(message: CompiledMessage, loaded: LoadedAddresses): AccountKey[] {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
  const statics = message.staticAccounts
  const fromTable = (writable: boolean) => (address: Address) =>
    ({ address, signer: false, writable, source: 'lookupTable' }) as const
  return [
    ...statics.map((address, index) => {
      const signer = index < numSignerAccounts
      const writable = signer
        ? index < numSignerAccounts - numReadonlySignerAccounts
        : index < statics.length - numReadonlyNonSignerAccounts
      return { address, signer, writable, source: 'transaction' } as const
    }),
    ...loaded.writable.map(fromTable(true)),
    ...loaded.readonly.map(fromTable(false)),
  ]
}

/** The addresses of these keys, for a transaction that was executed. Decoding all of it would take fifty times as long. */
export function addressesIn(wire: Uint8Array, loaded: LoadedAddresses): Address[] {
  const message = wire.subarray(1 + 64 * (wire[0] as number))
  const isVersioned = ((message[0] as number) & 0x80) !== 0
  // After the version and the three counts of the header. A transaction is too short for a count of two bytes.
  const start = isVersioned ? 4 : 3
  const count = message[start] as number
  const keys = Array.from({ length: count }, (_, i) => message.subarray(start + 1 + 32 * i, start + 33 + 32 * i))
  return [...keys.map((key) => toBase58(key) as Address), ...loaded.writable, ...loaded.readonly]
}

const LAMPORTS_PER_SIGNATURE = 5_000n
const MICRO_LAMPORTS = 1_000_000n
const MAX_UNITS = 1_400_000n
const UNITS_PER_BUILTIN = 3_000n
const UNITS_PER_INSTRUCTION = 200_000n

const COMPUTE_BUDGET_PROGRAM = address('ComputeBudget111111111111111111111111111111')
const BUILTINS: readonly Address[] = [COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM_ADDRESS]
const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3

/** 5,000 lamports per signature, plus the requested compute units times their price, rounded up. */
export function feeOf(message: CompiledMessage): bigint {
  let limit: bigint | undefined
  let price = 0n
  let defaultLimit = 0n
  for (const { programAddressIndex, data = new Uint8Array() } of message.instructions) {
    const program = message.staticAccounts[programAddressIndex]!
    defaultLimit += BUILTINS.includes(program) ? UNITS_PER_BUILTIN : UNITS_PER_INSTRUCTION
    if (program !== COMPUTE_BUDGET_PROGRAM) continue
    const view = Buffer.from(data)
    if (view[0] === SET_UNIT_LIMIT && view.length === 5) limit = BigInt(view.readUInt32LE(1))
    if (view[0] === SET_UNIT_PRICE && view.length === 9) price = view.readBigUInt64LE(1)
  }
  const units = limit ?? defaultLimit
  const priority = ((units < MAX_UNITS ? units : MAX_UNITS) * price + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS
  return LAMPORTS_PER_SIGNATURE * BigInt(message.header.numSignerAccounts) + priority
}
