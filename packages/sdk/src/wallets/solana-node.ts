// What paying asks of a node of the primary chain.

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
  /** Of the block that the hash is of, or one a little after it. */
  slot: bigint
}

export function connectSolana(rpcUrl: string) {
  const rpc = createSolanaRpc(rpcUrl)
  const soon = () => ({ abortSignal: AbortSignal.timeout(TIMEOUT_MS) })

  return {
    /** The CAIP-2 id of its chain. */
    async network(): Promise<string> {
      return `solana:${(await rpc.getGenesisHash().send(soon())).slice(0, 32)}`
    },

    async lifetime(): Promise<Lifetime> {
      const { context, value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send(soon())
      return { ...value, slot: context.slot }
    },

    async lamports(owner: string): Promise<bigint> {
      return (await rpc.getBalance(owner as Address, { commitment: 'confirmed' }).send(soon())).value
    },

    /** Nothing where there is no such account. */
    async tokens(account: string): Promise<bigint> {
      try {
        const { value } = await rpc.getTokenAccountBalance(account as Address, { commitment: 'confirmed' }).send(soon())
        return BigInt(value.amount)
      } catch (error) {
        if (isSolanaError(error, SOLANA_ERROR__JSON_RPC__INVALID_PARAMS)) return 0n
        throw error
      }
    },

    /** Why a transaction would fail; null when it would not. */
    async refusal(raw: string): Promise<string | null> {
      const { value } = await rpc
        .simulateTransaction(raw as Base64EncodedWireTransaction, { encoding: 'base64', commitment: 'confirmed' })
        .send(soon())
      if (value.err === null) return null
      return JSON.stringify(value.err, (_, part) => (typeof part === 'bigint' ? Number(part) : part))
    },

    async send(raw: string): Promise<void> {
      await rpc
        .sendTransaction(raw as Base64EncodedWireTransaction, { encoding: 'base64', skipPreflight: true })
        .send(soon())
    },

    async outcomeOf({ tx, life }: SignedPayment): Promise<TransactionOutcome> {
      const { absoluteSlot, blockHeight } = await rpc.getEpochInfo({ commitment: 'finalized' }).send(soon())
      const { context, value } = await rpc
        .getSignatureStatuses([tx as Signature], { searchTransactionHistory: true })
        .send(soon())
      const [status] = value
      if (status?.err) return status.confirmationStatus === 'finalized' ? 'failed' : 'pending'
      if (status) return status.confirmationStatus === 'processed' ? 'pending' : 'landed'
      if (blockHeight <= BigInt(life.lastValidBlockHeight as string)) return 'pending'
      // Of several machines behind one address, one that lags must not be the one to say that there is nothing.
      const hasSeenAll = context.slot >= absoluteSlot && (await remembers(BigInt(life.slot as string)))
      return hasSeenAll ? 'expired' : 'pending'
    },
  }

  /** Nodes forget: one that has no block of that time cannot say what was in it. */
  async function remembers(slot: bigint): Promise<boolean> {
    return rpc
      .getBlockTime(slot)
      .send(soon())
      .then(
        () => true,
        () => false,
      )
  }
}
