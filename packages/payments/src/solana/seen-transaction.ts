import {
  type AccountMeta,
  type Address,
  decodeTransactionFromRpcResponse,
  type GetTransactionApiResponseBase64,
  getAccountMetasFromCompiledTransactionMessage,
  type Instruction,
  isSignerRole,
  type Transaction,
  type TransactionVersion,
  walkInstructions,
} from '@solana/kit'
import type { JsonRpc } from '@svc/chains/json-rpc'
import { NodeProblem } from '@svc/chains/node-pool'
import { equalBytes, fromBase58 } from '@svc/protocol/bytes'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'

export type PaymentCommitment = 'confirmed' | 'finalized'

/** Null when the node does not know the transaction at that commitment. Nothing of the answer has been checked. */
export async function fetchTransaction(
  rpc: JsonRpc,
  tx: string,
  commitment: PaymentCommitment,
  signal: AbortSignal,
): Promise<TransactionAnswer | null> {
  const options = { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 }
  return (await rpc('getTransaction', [tx, options], signal)) as TransactionAnswer | null // checked below
}

// biome-ignore lint/suspicious/noConfusingVoidType: so the library says that no version was asked for
type TransactionAnswer = GetTransactionApiResponseBase64<TransactionVersion | void>
type TransactionMeta = NonNullable<TransactionAnswer['meta']>

/** A node's answer about a transaction, checked as far as it can be without the chain. */
export interface SeenTransaction {
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

interface LamportChange {
  address: Address
  signed: boolean
  before: bigint
  after: bigint
}

interface TokenChange {
  account: Address
  mint: string
  /** Before the transaction, where the account existed then. */
  owner: string
  before: bigint
  after: bigint
}

/** Throws at an answer that is inconsistent: the types of the library only say what a node promises. */
export function readTransaction(tx: string, answer: TransactionAnswer): SeenTransaction {
  if (!answer) throw new NodeProblem('an answer without a transaction')
  const { meta, slot, blockTime } = answer
  if (!meta) throw new NodeProblem('the transaction comes without its effects')
  if (meta.err === undefined) throw new NodeProblem('the transaction comes without its outcome')
  const { transaction, compiledMessage, loadedAddresses } = decodeTransactionFromRpcResponse(answer)
  requireSignatures(tx, transaction)
  const keys = getAccountMetasFromCompiledTransactionMessage(compiledMessage, loadedAddresses)
  return {
    slot: Number(amount(slot)),
    blockTime: blockTime === null ? null : Number(amount(blockTime)),
    failed: meta.err !== null,
    fee: amount(meta.fee),
    accounts: readLamportChanges(keys, meta),
    tokens: readTokenChanges(keys, meta),
    instructions: walkInstructions({ compiledMessage, loadedAddresses, meta }),
  }
}

/** With every signature checked, a node can show neither other bytes for this id nor a signer who did not sign. */
function requireSignatures(tx: string, { messageBytes, signatures }: Transaction) {
  const [first] = Object.values(signatures)
  const id = fromBase58(tx, 64)
  if (!first || !id || !equalBytes(first, id)) throw new NodeProblem('another transaction than the one asked for')
  const message = new Uint8Array(messageBytes)
  for (const [signer, signature] of Object.entries(signatures))
    if (!signature || !ed25519PublicKeyFromBase58(signer)?.verify(message, signature))
      throw new NodeProblem('a transaction that is not signed')
}

function readLamportChanges(keys: readonly AccountMeta[], meta: TransactionMeta): LamportChange[] {
  const { preBalances, postBalances } = meta
  if (preBalances.length !== keys.length || postBalances.length !== keys.length)
    throw new NodeProblem('balances of other accounts than the transaction has')
  return keys.map(({ address, role }, index) => ({
    address,
    signed: isSignerRole(role),
    before: amount(preBalances[index]),
    after: amount(postBalances[index]),
  }))
}

type TokenBalance = NonNullable<TransactionMeta['preTokenBalances']>[number]

/** How each token account changed. One that was opened or closed by the transaction held nothing before or after. */
function readTokenChanges(keys: readonly AccountMeta[], meta: TransactionMeta): TokenChange[] {
  const { preTokenBalances, postTokenBalances } = meta
  if (!preTokenBalances || !postTokenBalances) throw new NodeProblem('the transaction comes without token balances')
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
    const account = keys[accountIndex]?.address
    const { amount } = uiTokenAmount
    if (!account || typeof mint !== 'string' || typeof owner !== 'string' || !/^\d{1,20}$/.test(amount))
      throw new NodeProblem('an invalid token balance')
    // An account may be closed and opened again for another mint: then it is another account.
    return { key: `${account} ${mint}`, named: { account, mint, owner }, amount: BigInt(amount) }
  }
}

/** Integers beyond what a double holds come as bigints. */
function amount(value: unknown): bigint {
  const isExact = typeof value === 'bigint' || Number.isSafeInteger(value)
  const read = isExact ? BigInt(value as bigint | number) : -1n
  if (read < 0n) throw new NodeProblem('an invalid number')
  return read
}
