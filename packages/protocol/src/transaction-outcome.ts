// The outcome of a transaction, with the same words for every chain, server and wallet.

/**
 * - `landed`: it is in a block and succeeded.
 * - `failed`: it is in a block, but had no effect except its fee.
 * - `expired`: it is in no block, and can never be in one.
 * - `pending`: none of these is certain. It may still land, and sending it again does no harm.
 */
export type TransactionOutcome = 'landed' | 'failed' | 'expired' | 'pending'
