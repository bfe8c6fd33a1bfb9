// Transactions that a user pastes, because only the wallet knows that they were sent.

import type { PaymentLeg } from '@svc/api/quote'

const TRANSACTION = /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{80,90})$/i

/** The transaction in a text, which may be the address of an explorer. */
export function transactionIn(text: string): string | null {
  const parts = text.trim().split(/[/?#]/)
  return parts.find((part) => TRANSACTION.test(part)) ?? null
}

/** Confirms the first of these legs that the transaction paid. */
export async function confirmOneOf<Leg extends PaymentLeg, Confirmed>(
  tx: string,
  legs: readonly Leg[],
  confirm: (leg: Leg) => Promise<Confirmed>,
): Promise<Confirmed> {
  const { isGatewayError, UntrueAnswer } = await import('@svc/sdk')
  const family = tx.startsWith('0x') ? 'eip155:' : 'solana:'
  let first: unknown = new Error('nothing can be paid on the chain of this transaction')
  for (const [i, leg] of legs.filter(({ network }) => network.startsWith(family)).entries()) {
    try {
      return await confirm(leg)
    } catch (error) {
      if (i === 0) first = error
      // The transaction may have paid another leg or an earlier quote. A paid quote returns its receipt for all its legs.
      const { cause } = error as Error
      const isOther = isGatewayError(cause, 'payment_verification_failed', 'quote_expired')
      if (!isOther && !(error instanceof UntrueAnswer)) throw error
    }
  }
  throw first
}
