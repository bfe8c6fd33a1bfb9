import {
  getU32Decoder,
  getU64Decoder,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
} from '@solana/kit'
import { SUPPORTED_MEMO_PROGRAM_ADDRESSES } from '@solana-program/memo'
import { NATIVE_ASSETS } from '@svc/api/networks'
import { fromBase58 } from '@svc/protocol/bytes'
import { type JsonRpc, RpcError } from '../nodes/json-rpc.ts'
import type { ChainReading, Destination, PaymentReader } from '../payment.ts'
import { readPayment } from '../read-payment.ts'
import { findReferences } from '../references.ts'
import { connectSolanaUnread } from './nodes.ts'
import {
  fetchTransaction,
  type ObservedTransaction,
  type PaymentCommitment,
  readTransaction,
} from './observed-transaction.ts'

export interface SolanaPaymentReaderOptions {
  rpcUrls: readonly string[]
  /** The chain that the nodes must be on. */
  genesisHash: string
  commitment?: PaymentCommitment
  /** How many nodes must agree. */
  quorum?: number
  /** The time limit of one reading, however many queries it takes. */
  timeoutMs?: number
}

export function createSolanaPaymentReader(options: SolanaPaymentReaderOptions): PaymentReader {
  const { rpcUrls, genesisHash, commitment = 'confirmed', quorum = 1, timeoutMs = 10_000 } = options
  const pool = connectSolanaUnread({ genesisHash }, rpcUrls, { timeoutMs, quorum })
  return {
    isTransactionId,
    async read(tx, destination) {
      if (!isTransactionId(tx)) return { outcome: 'rejected', reason: 'wrong_transaction_form' }
      return readPayment(pool, (rpc, signal) => read(rpc, tx, destination, commitment, signal))
    },
  }
}

function isTransactionId(text: string): boolean {
  return fromBase58(text, 64) !== null
}

async function read(
  rpc: JsonRpc,
  tx: string,
  destination: Destination,
  commitment: PaymentCommitment,
  signal: AbortSignal,
): Promise<ChainReading> {
  try {
    const answer = await fetchTransaction(rpc, tx, commitment, signal)
    if (answer === null) return { outcome: 'not_found' }
    return readingOf(tx, readTransaction(tx, answer), destination)
  } catch (error) {
    // The node has the transaction, in a newer version than this reader supports: a retry would not help.
    if (
      error instanceof RpcError &&
      error.code === SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION
    )
      return { outcome: 'rejected', reason: 'wrong_transaction_form' }
    throw error
  }
}

function readingOf(tx: string, seen: ObservedTransaction, { asset, payTo }: Destination): ChainReading {
  if (seen.failed) return { outcome: 'rejected', reason: 'transaction_failed' }
  const received = asset === NATIVE_ASSETS.solana ? receivedLamports(seen, payTo) : receivedTokens(seen, payTo, asset)
  if (received <= 0n) return { outcome: 'rejected', reason: 'nothing_received' }
  const payer = asset === NATIVE_ASSETS.solana ? solPayer(seen, payTo, received) : tokenPayer(seen, asset)
  if (payer === null) return { outcome: 'rejected', reason: 'payer_unclear' }
  const { slot: height, blockTime } = seen
  return {
    outcome: 'found',
    tx,
    payer,
    received,
    height,
    blockTime,
    references: referencesIn(seen),
    authorizations: [],
  }
}

// Balances, not instructions, show the received amount: they include inner transfers, batches, lookup tables and
// transfer fees.
function receivedLamports({ accounts }: ObservedTransaction, payTo: string): bigint {
  const account = accounts.find(({ address }) => address === payTo)
  return account ? account.after - account.before : 0n
}

function receivedTokens({ tokens }: ObservedTransaction, payTo: string, mint: string): bigint {
  const change = tokens.find((token) => token.account === payTo && token.mint === mint)
  return change ? change.after - change.before : 0n
}

/**
 * The only signer whose lamports fell by more than the fee. When several accounts fell, or one that did not sign (a
 * relay paid rent, a token account was closed on the way), the only signer whose transfers make up the whole amount.
 */
function solPayer(seen: ObservedTransaction, payTo: string, received: bigint): string | null {
  const decreased = seen.accounts.filter(({ before, after }, index) => before - after > (index === 0 ? seen.fee : 0n))
  const bySource = onlySigner(seen, decreased, ({ address }) => address)
  if (bySource !== null) return bySource
  const transfers = transfersInto(seen, payTo)
  const sum = transfers.reduce((total, { lamports }) => total + lamports, 0n)
  return sum < received ? null : onlySigner(seen, transfers, ({ source }) => source)
}

/** The only owner of accounts of that mint whose balance fell. If only a delegate signed, there is no payer. */
function tokenPayer(seen: ObservedTransaction, mint: string): string | null {
  const decreased = seen.tokens.filter((token) => token.mint === mint && token.after < token.before)
  return onlySigner(seen, decreased, ({ owner }) => owner)
}

function onlySigner<T>(
  seen: ObservedTransaction,
  sources: readonly T[],
  addressOf: (source: T) => string,
): string | null {
  const [only, ...others] = new Set(sources.map(addressOf))
  if (only === undefined || others.length > 0) return null
  return seen.accounts.some(({ address, signed }) => signed && address === only) ? only : null
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const TRANSFER = 2
const TRANSFER_BYTES = 12

function transfersInto({ instructions }: ObservedTransaction, payTo: string) {
  return instructions.flatMap(({ program, accounts, data }) => {
    const [source, destination] = accounts
    if (program !== SYSTEM_PROGRAM || destination !== payTo || !source) return []
    if (data.length !== TRANSFER_BYTES || getU32Decoder().decode(data) !== TRANSFER) return []
    return [{ source, lamports: getU64Decoder().decode(data, 4) }]
  })
}

function referencesIn({ instructions }: ObservedTransaction): string[] {
  const memoPrograms: readonly string[] = SUPPORTED_MEMO_PROGRAM_ADDRESSES
  const memos = instructions.filter(({ program }) => memoPrograms.includes(program))
  return findReferences(...memos.map(({ data }) => data))
}
