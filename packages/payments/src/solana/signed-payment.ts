// Checks that a signed transaction of the primary chain pays a leg, and does nothing else.

import { getU32Decoder, getU64Decoder } from '@solana/kit'
import { SUPPORTED_MEMO_PROGRAM_ADDRESSES } from '@solana-program/memo'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { NATIVE_ASSETS } from '@svc/api/networks'
import { toBase58 } from '@svc/protocol/bytes'
import { isEd25519SignedBy } from '@svc/protocol/keys'
import { NodeProblem } from '../nodes/node-pool.ts'
import { type InspectedPayment, other, type PayableLeg } from '../payer-node.ts'
import { findReferences, nameOnly } from '../references.ts'
import { decodeTransaction, type WireTransaction } from './wire-transaction.ts'

/** The size of a network packet; nothing longer can land. */
const MAX_BYTES = 1232
const MEMO_PROGRAMS: readonly string[] = SUPPORTED_MEMO_PROGRAM_ADDRESSES
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111'
const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const SYSTEM_TRANSFER = 2
const TRANSFER_CHECKED = 12
/** Wallets add assertions of this program, which make a transaction fail that does not do what they have shown. */
const LIGHTHOUSE = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'
/** The index of the first assertion: the two instructions before it write. */
const FIRST_ASSERTION = 2

export function inspectSolanaPayment(transaction: string, legs: readonly PayableLeg[]): InspectedPayment {
  const decoded = decode(transaction)
  if (!decoded) return { outcome: 'malformed' }
  const { signatures, keys, message, loaded } = decoded
  const [signature, ...cosignatures] = signatures
  const [payer] = keys
  if (!signature || !payer || cosignatures.length > 0) return other('the payer must be its only signer')
  if (loaded.writable + loaded.readonly > 0) return other('it uses accounts from lookup tables')
  if (!isEd25519SignedBy(payer, message, signature)) return other('it is not signed by its payer')
  const problem = problemOf(instructionsOf(decoded), toBase58(payer), legs)
  return problem === null ? { outcome: 'payment', tx: toBase58(signature), raw: transaction } : other(problem)
}

function decode(transaction: string): WireTransaction | null {
  const bytes = Buffer.from(transaction, 'base64')
  if (bytes.length > MAX_BYTES || bytes.toString('base64') !== transaction) return null
  try {
    return decodeTransaction(bytes)
  } catch (error) {
    if (error instanceof NodeProblem) return null
    throw error
  }
}

interface Instruction {
  program: string
  accounts: readonly string[]
  data: Uint8Array
}

/** An index beyond the accounts becomes an empty name, which matches nothing. */
function instructionsOf({ keys, instructions }: WireTransaction): Instruction[] {
  const names = keys.map(toBase58)
  const nameAt = (index: number) => names[index] ?? ''
  return instructions.map(({ program, accounts, data }) => ({
    program: nameAt(program),
    accounts: accounts.map(nameAt),
    data,
  }))
}

function problemOf(instructions: readonly Instruction[], payer: string, legs: readonly PayableLeg[]): string | null {
  const [transfer, ...others] = instructions.filter((instruction) => !movesNothing(instruction))
  if (!transfer) return 'it pays nothing'
  if (others.length > 0) return 'it does more than pay'
  const leg = legs.find((candidate) => isTransferOf(transfer, payer, candidate))
  if (!leg) return 'it does not pay the quoted amount to the quoted address'
  const memos = instructions.filter(({ program }) => MEMO_PROGRAMS.includes(program))
  const references = findReferences(...memos.map(({ data }) => data))
  if (references.length === 0) return 'it does not reference the quote in a memo'
  return nameOnly([leg.payReqId], references) ? null : 'it references another quote in its memo'
}

function movesNothing({ program, data }: Instruction): boolean {
  if (program === LIGHTHOUSE) return (data[0] ?? 0) >= FIRST_ASSERTION
  return program === COMPUTE_BUDGET || MEMO_PROGRAMS.includes(program)
}

function isTransferOf({ program, accounts, data }: Instruction, payer: string, leg: PayableLeg): boolean {
  const { asset, payTo, amount, decimals } = leg
  if (asset === NATIVE_ASSETS.solana) {
    const [source, destination, ...more] = accounts
    const isTransfer =
      program === SYSTEM_PROGRAM && data.length === 12 && getU32Decoder().decode(data) === SYSTEM_TRANSFER
    const isToLeg = source === payer && destination === payTo && more.length === 0
    return isTransfer && isToLeg && getU64Decoder().decode(data, 4) === amount
  }
  const [, mint, destination, authority, ...more] = accounts
  const isTransfer = program === TOKEN_PROGRAM_ADDRESS && data.length === 10 && data[0] === TRANSFER_CHECKED
  const isToLeg = mint === asset && destination === payTo && authority === payer && more.length === 0
  return isTransfer && isToLeg && getU64Decoder().decode(data, 1) === amount && data[9] === decimals
}
