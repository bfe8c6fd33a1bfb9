import { getBase58Encoder } from '@solana/kit'
import { equalBytes, fromBase58, toBase58 } from '@svc/protocol/bytes'
import { isEd25519SignedBy } from '@svc/protocol/keys'
import type { JsonRpc } from '../nodes/json-rpc.ts'
import { NodeProblem } from '../nodes/node-pool.ts'
import { decodeTransaction, type WireTransaction } from './wire-transaction.ts'

export type PaymentCommitment = 'confirmed' | 'finalized'

/** Null when the node does not know the transaction at that commitment. The answer is unchecked. */
export async function fetchTransaction(
  rpc: JsonRpc,
  tx: string,
  commitment: PaymentCommitment,
  signal: AbortSignal,
): Promise<TransactionAnswer | null> {
  const options = { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 }
  return (await rpc('getTransaction', [tx, options], signal)) as TransactionAnswer | null // checked below
}

/** The part of a node's answer that is read here, as the node promises it. */
interface TransactionAnswer {
  slot: unknown
  blockTime: unknown
  transaction: readonly [base64: string, encoding: 'base64']
  meta: TransactionMeta | null
}

interface TransactionMeta {
  err: unknown
  fee: unknown
  preBalances: readonly unknown[]
  postBalances: readonly unknown[]
  preTokenBalances?: readonly TokenBalance[]
  postTokenBalances?: readonly TokenBalance[]
  loadedAddresses?: LoadedAddresses | null
  innerInstructions?: readonly { instructions: readonly InnerInstruction[] }[] | null
}

interface LoadedAddresses {
  writable: readonly string[]
  readonly: readonly string[]
}

interface InnerInstruction {
  programIdIndex: number
  accounts: readonly number[]
  /** Base58. */
  data: string
}

interface TokenBalance {
  accountIndex: number
  mint: string
  owner?: string
  uiTokenAmount: { amount: string }
}

/** A node's answer about a transaction, checked as far as possible without the chain. */
export interface ObservedTransaction {
  slot: number
  blockTime: number | null
  failed: boolean
  fee: bigint
  /** The fee payer first. */
  accounts: readonly LamportChange[]
  tokens: readonly TokenChange[]
  /** Outer and inner. */
  instructions: readonly Instruction[]
}

interface Account {
  address: string
  signed: boolean
}

interface Instruction {
  program: string
  accounts: readonly string[]
  data: Uint8Array
}

interface LamportChange extends Account {
  before: bigint
  after: bigint
}

interface TokenChange {
  account: string
  mint: string
  /** The balance before the transaction, if the account existed then. */
  owner: string
  before: bigint
  after: bigint
}

/** Throws for an inconsistent answer: the types only state what a node promises. */
export function readTransaction(tx: string, answer: TransactionAnswer): ObservedTransaction {
  if (!answer) throw new NodeProblem('a response without a transaction')
  const { meta, slot, blockTime } = answer
  if (!meta) throw new NodeProblem('a transaction without its effects')
  if (meta.err === undefined) throw new NodeProblem('a transaction without its outcome')
  const transaction = decodeTransaction(wireBytes(answer))
  requireSignatures(tx, transaction)
  const accounts = readAccounts(transaction, meta)
  return {
    slot: Number(amount(slot)),
    blockTime: blockTime === null ? null : Number(amount(blockTime)),
    failed: meta.err !== null,
    fee: amount(meta.fee),
    accounts: readLamportChanges(accounts, meta),
    tokens: readTokenChanges(accounts, meta),
    instructions: readInstructions(accounts, transaction, meta),
  }
}

function wireBytes({ transaction }: TransactionAnswer): Uint8Array {
  const [text, encoding] = Array.isArray(transaction) ? transaction : []
  if (typeof text !== 'string' || encoding !== 'base64') throw new NodeProblem('a response without a transaction')
  return Buffer.from(text, 'base64')
}

/** With every signature checked, a node can show neither other bytes for this id nor a signer who did not sign. */
function requireSignatures(tx: string, { message, signatures, keys }: WireTransaction) {
  const [first] = signatures
  const id = fromBase58(tx, 64)
  if (!first || !id || !equalBytes(first, id)) throw new NodeProblem('a transaction other than the requested one')
  for (const [i, signature] of signatures.entries()) {
    const key = keys[i]
    if (!key || !isEd25519SignedBy(key, message, signature)) throw new NodeProblem('a transaction that is not signed')
  }
}

/** The accounts that the message names, then those of lookup tables, which only the node knows. */
function readAccounts({ keys, signatures, loaded }: WireTransaction, { loadedAddresses }: TransactionMeta): Account[] {
  const { writable = [], readonly = [] } = loadedAddresses ?? {}
  if (writable.length !== loaded.writable || readonly.length !== loaded.readonly)
    throw new NodeProblem('accounts that the transaction does not have')
  const named = keys.map((key, i) => ({ address: toBase58(key), signed: i < signatures.length }))
  return [...named, ...[...writable, ...readonly].map((address) => ({ address, signed: false }))]
}

function readLamportChanges(accounts: readonly Account[], meta: TransactionMeta): LamportChange[] {
  const { preBalances, postBalances } = meta
  if (preBalances.length !== accounts.length || postBalances.length !== accounts.length)
    throw new NodeProblem('balances of accounts that the transaction does not have')
  return accounts.map((account, index) => ({
    ...account,
    before: amount(preBalances[index]),
    after: amount(postBalances[index]),
  }))
}

/**
 * Longer data belongs to no instruction that counts, and is not read (T-35): base58 takes quadratic time, and a program
 * may call others 64 times with 10 kB.
 */
const MAX_INNER_CHARS = 800
const NOT_READ = new Uint8Array()

function readInnerData(data: string): Uint8Array {
  return data.length > MAX_INNER_CHARS ? NOT_READ : new Uint8Array(getBase58Encoder().encode(data))
}

function readInstructions(
  accounts: readonly Account[],
  { instructions }: WireTransaction,
  { innerInstructions }: TransactionMeta,
): Instruction[] {
  const addressAt = (index: number) => {
    const account = accounts[index]
    if (!account) throw new NodeProblem('an instruction with accounts that the transaction does not have')
    return account.address
  }
  const outer = instructions.map(({ program, accounts, data }) => ({
    program: addressAt(program),
    accounts: accounts.map(addressAt),
    data,
  }))
  const inner = (innerInstructions ?? []).flatMap((group) =>
    group.instructions.map(({ programIdIndex, accounts, data }) => ({
      program: addressAt(programIdIndex),
      accounts: accounts.map(addressAt),
      data: readInnerData(data),
    })),
  )
  return [...outer, ...inner]
}

/** The change of each token account. An account that the transaction opened or closed was empty before or after. */
function readTokenChanges(accounts: readonly Account[], meta: TransactionMeta): TokenChange[] {
  const { preTokenBalances, postTokenBalances } = meta
  if (!preTokenBalances || !postTokenBalances) throw new NodeProblem('a transaction without token balances')
  const changes = new Map<string, TokenChange>()
  for (const balance of preTokenBalances) {
    const account = read(balance)
    changes.set(account.key, { ...account.named, before: account.amount, after: 0n })
  }
  for (const balance of postTokenBalances) {
    const account = read(balance)
    const known = changes.get(account.key)
    changes.set(account.key, { ...(known ?? { ...account.named, before: 0n }), after: account.amount })
  }
  return [...changes.values()]

  function read({ accountIndex, mint, owner, uiTokenAmount }: TokenBalance) {
    const account = accounts[accountIndex]?.address
    const { amount } = uiTokenAmount
    if (!account || typeof mint !== 'string' || typeof owner !== 'string' || !/^\d{1,20}$/.test(amount))
      throw new NodeProblem('an invalid token balance')
    // An account may be closed and reopened for another mint: then it is another account.
    return { key: `${account} ${mint}`, named: { account, mint, owner }, amount: BigInt(amount) }
  }
}

/** Integers beyond the limit of a double arrive as bigints. */
function amount(value: unknown): bigint {
  const isExact = typeof value === 'bigint' || Number.isSafeInteger(value)
  const read = isExact ? BigInt(value as bigint | number) : -1n
  if (read < 0n) throw new NodeProblem('an invalid number')
  return read
}
