import { type Address, address } from '@solana/kit'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import type { CompiledMessage } from './wire-transaction.ts'

const LAMPORTS_PER_SIGNATURE = 5_000n
const MICRO_LAMPORTS = 1_000_000n
const MAX_UNITS = 1_400_000n
const UNITS_PER_BUILTIN = 3_000n
const UNITS_PER_INSTRUCTION = 200_000n

const COMPUTE_BUDGET_PROGRAM = address('ComputeBudget111111111111111111111111111111')
const BUILTINS: readonly Address[] = [COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM_ADDRESS]
const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3

/** 5,000 lamports a signature, and the price of a compute unit times the units asked for, rounded up. */
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
