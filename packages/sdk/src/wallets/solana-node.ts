// The calls to a node of the primary chain for payments.

import {
  type Address,
  type Base64EncodedWireTransaction,
  type Blockhash,
  createSolanaRpc,
  isSolanaError,
  type Signature,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
} from '@solana/kit'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import type { SignedPayment } from './wallet.ts'

const TIMEOUT_MS = 15_000

export interface Lifetime {
  blockhash: Blockhash
  lastValidBlockHeight: bigint
  /** The slot of the blockhash, or one shortly after it. */
  slot: bigint
}

export function connectSolana(rpcUrl: string) {
  const rpc = createSolanaRpc(rpcUrl)
  const withTimeout = () => ({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) })

  /** The CAIP-2 id of its chain. */
  async function network(): Promise<string> {
    return `solana:${(await rpc.getGenesisHash().send(withTimeout())).slice(0, 32)}`
  }

  return {
    network,

    async lifetime(): Promise<Lifetime> {
      const { context, value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send(withTimeout())
      return { ...value, slot: context.slot }
    },

    async lamports(owner: string): Promise<bigint> {
      return (await rpc.getBalance(owner as Address, { commitment: 'confirmed' }).send(withTimeout())).value
    },

    /** Zero if the account does not exist. */
    async tokens(account: string): Promise<bigint> {
      try {
        const { value } = await rpc
          .getTokenAccountBalance(account as Address, { commitment: 'confirmed' })
          .send(withTimeout())
        return BigInt(value.amount)
      } catch (error) {
        if (isSolanaError(error, SOLANA_ERROR__JSON_RPC__INVALID_PARAMS)) return 0n
        throw error
      }
    },

    /** Why a transaction would fail, or null. */
    async refusal(raw: string): Promise<string | null> {
      const { value } = await rpc
        .simulateTransaction(raw as Base64EncodedWireTransaction, { encoding: 'base64', commitment: 'confirmed' })
        .send(withTimeout())
      if (value.err === null) return null
      return JSON.stringify(value.err, (_, part) => (typeof part === 'bigint' ? Number(part) : part))
    },

    async send(raw: string): Promise<void> {
      await rpc
        .sendTransaction(raw as Base64EncodedWireTransaction, { encoding: 'base64', skipPreflight: true })
        .send(withTimeout())
    },

    async outcomeOf({ tx, life }: SignedPayment): Promise<TransactionOutcome> {
      const { absoluteSlot, blockHeight } = await rpc.getEpochInfo({ commitment: 'finalized' }).send(withTimeout())
      const { context, value } = await rpc
        .getSignatureStatuses([tx as Signature], { searchTransactionHistory: true })
        .send(withTimeout())
      const [status] = value
      if (status?.err) return status.confirmationStatus === 'finalized' ? 'failed' : 'pending'
      if (status) return status.confirmationStatus === 'processed' ? 'pending' : 'landed'
      if (blockHeight <= BigInt(life.lastValidBlockHeight as string)) return 'pending'
      // One URL may lead to several machines, and a lagging one must not decide that a transaction is missing.
      const hasSeenAll = context.slot >= absoluteSlot && (await hasBlock(BigInt(life.slot as string)))
      if (!hasSeenAll) return 'pending'
      // Payments recorded by earlier releases do not name their network.
      if (life.network !== undefined && (await network()) !== life.network)
        throw new Error('the node is on another chain than the payment')
      return 'expired'
    },
  }

  /** Whether the node still has the block of that slot. A node that has pruned it cannot know its transactions. */
  async function hasBlock(slot: bigint): Promise<boolean> {
    return rpc
      .getBlockTime(slot)
      .send(withTimeout())
      .then(
        () => true,
        () => false,
      )
  }
}
