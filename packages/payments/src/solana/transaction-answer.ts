import {
  type GetGenesisHashApi,
  type GetTransactionApi,
  type GetTransactionApiResponseBase64,
  type Rpc,
  signature,
  type TransactionVersion,
} from '@solana/kit'

export type SolanaRpc = Rpc<GetGenesisHashApi & GetTransactionApi>

export type PaymentCommitment = 'confirmed' | 'finalized'

/** Null when the node does not know the transaction at that commitment. Nothing of the answer has been checked. */
export function askForTransaction(
  rpc: SolanaRpc,
  tx: string,
  commitment: PaymentCommitment,
  abortSignal: AbortSignal,
): Promise<TransactionAnswer | null> {
  return rpc
    .getTransaction(signature(tx), { commitment, encoding: 'base64', maxSupportedTransactionVersion: 0 })
    .send({ abortSignal })
}

// biome-ignore lint/suspicious/noConfusingVoidType: so the library says that no version was asked for
export type TransactionAnswer = GetTransactionApiResponseBase64<TransactionVersion | void>
export type TransactionMeta = NonNullable<TransactionAnswer['meta']>
