import { type GetGenesisHashApi, type GetTransactionApi, type Rpc, signature } from '@solana/kit'

export type SolanaRpc = Rpc<GetGenesisHashApi & GetTransactionApi>

export type PaymentCommitment = 'confirmed' | 'finalized'

/** Null when the node does not know the transaction at that commitment. Nothing of the answer has been checked. */
export function askForTransaction(rpc: SolanaRpc, tx: string, commitment: PaymentCommitment, abortSignal: AbortSignal) {
  return rpc
    .getTransaction(signature(tx), { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 })
    .send({ abortSignal })
}

export type TransactionAnswer = NonNullable<Awaited<ReturnType<typeof askForTransaction>>>
export type TransactionMeta = NonNullable<TransactionAnswer['meta']>
