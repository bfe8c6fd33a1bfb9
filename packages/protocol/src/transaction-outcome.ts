// The outcome of a transaction, in the same words for every chain, server and wallet.

/**
 * - `landed`: a block holds it, and it did what it says.
 * - `failed`: a block holds it, and it did nothing but cost its fee.
 * - `expired`: no block holds it, and none ever can.
 * - `pending`: none of these is certain. It may still land, and sending it again does no harm.
 */
export type TransactionOutcome = 'landed' | 'failed' | 'expired' | 'pending'
