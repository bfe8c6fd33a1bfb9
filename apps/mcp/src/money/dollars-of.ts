// What a payment is worth. What the gateway says of its worth does not count: a limit must hold against gateways too.

import type { PaymentLeg } from '@svc/api/quote'
import { knownAsset } from '@svc/sdk/money'
import type { Limits } from '../settings.ts'

/** Known tokens that are worth a dollar; they have six decimals, as dollars have here. */
const DOLLAR_TOKENS = ['USDC', 'USDT']

/** In millionths, rounded up; null where nobody has said what the asset counts for. */
export function dollarsOf(leg: PaymentLeg, { coins }: Limits): bigint | null {
  const known = knownAsset(leg)
  if (!known) return null
  const { ticker, decimals } = known
  const amount = BigInt(leg.amount)
  if (DOLLAR_TOKENS.includes(ticker)) return amount
  const worth = ticker === 'SOL' || ticker === 'MON' ? coins[ticker] : null
  if (!worth) return null
  const whole = 10n ** BigInt(decimals)
  return (amount * worth + whole - 1n) / whole
}
