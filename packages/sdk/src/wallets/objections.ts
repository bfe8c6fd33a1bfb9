// Why a wallet cannot pay, in words to be read after its address.

import type { PaymentLeg } from '@svc/api/quote'
import { amountText, knownAsset } from '../money.ts'

export const OTHER_CHAIN = 'asks a node of another chain than the quote names'

/** For people; null when there is enough. */
export function shortage(ticker: string, decimals: number, needed: bigint, held: bigint): string | null {
  if (held >= needed) return null
  return `needs ${amountText(needed, decimals)} ${ticker}, holds ${amountText(held, decimals)}`
}

/** No chain says what its coin is called. */
export function strangeCoin(leg: PaymentLeg): string | null {
  const { network, extra } = leg
  return knownAsset(leg)?.ticker === extra.name ? null : `does not know the coin of ${network} as ${extra.name}`
}
