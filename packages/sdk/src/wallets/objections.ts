// Reasons why a wallet cannot pay, worded to follow its address.

import type { PaymentLeg } from '@svc/api/quote'
import { amountText, knownAsset } from '../money.ts'

export const OTHER_CHAIN = 'uses a node of another chain than the quote names'

/** A payment to itself would land and cost a fee, but pay nothing. */
export const OWN_PAYMENT = 'is the wallet that receives the payment: pay from another one'

/** A text for people. Null if the balance is sufficient. */
export function shortage(ticker: string, decimals: number, needed: bigint, held: bigint): string | null {
  if (held >= needed) return null
  const [all, has, missing] = [needed, held, needed - held].map((amount) => amountText(amount, decimals))
  return `needs ${all} ${ticker}, holds ${has}: ${missing} ${ticker} is missing`
}

/** A chain does not name its coin, so only known coins are accepted. */
export function unknownCoin(leg: PaymentLeg): string | null {
  const { network, extra } = leg
  return knownAsset(leg)?.ticker === extra.name ? null : `does not know the coin of ${network} as ${extra.name}`
}

/** Whether a text was made by `shortage`. */
export function isShortage(text: string): boolean {
  return / needs [\d.]+ \S+, holds [\d.]+: /.test(text)
}
