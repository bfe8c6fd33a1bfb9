// The dollar value of a payment. It ignores the gateway's own figures: a limit must hold against the gateway too.

import type { PaymentLeg } from '@svc/api/quote'
import type { NetworkFee } from '@svc/sdk'
import { amountText, atomicAmount, knownAsset } from '@svc/sdk/money'

/** In millionths of a dollar. */
export interface Limits {
  perPurchase: bigint
  perDay: bigint
  /** The price of a whole coin; a coin without a price is not spent. */
  coins: { SOL: bigint | null; MON: bigint | null }
}

/** Known tokens worth a dollar. They have six decimals, so their raw amount is in millionths of a dollar. */
const DOLLAR_TOKENS = ['USDC', 'USDT']

/** In millionths of a dollar, rounded up; null for an asset without a known price. */
export function dollarsOf(leg: PaymentLeg, { coins }: Limits): bigint | null {
  const known = knownAsset(leg)
  if (!known) return null
  const { ticker, decimals } = known
  const amount = BigInt(leg.amount)
  if (DOLLAR_TOKENS.includes(ticker)) return amount
  const worth = ticker === 'SOL' || ticker === 'MON' ? coins[ticker] : null
  return worth ? worthOf(amount, worth, decimals) : null
}

/**
 * What a coin counts for in a fee while no price is set. The fee in SOL is fixed and far below a cent. The fee in MON is
 * what a node asks for: it counts for more than it costs, so that the limits hold.
 */
const UNPRICED = { SOL: 0n, MON: 1_000_000n }

/** What a network may charge, in millionths of a dollar, rounded up; null for a coin that is not known. */
export function dollarsOfFee({ amount, ticker, decimals }: NetworkFee, { coins }: Limits): bigint | null {
  if (ticker !== 'SOL' && ticker !== 'MON') return null
  return worthOf(amount, coins[ticker] ?? UNPRICED[ticker], decimals)
}

function worthOf(amount: bigint, worth: bigint, decimals: number): bigint {
  const whole = 10n ** BigInt(decimals)
  return (amount * worth + whole - 1n) / whole
}

const DECIMALS = 6

/** Parses text like `2` or `0.25`; null for anything else. */
export function microDollars(text: string): bigint | null {
  return /^\d{1,9}(\.\d{1,6})?$/.test(text) ? atomicAmount(text, DECIMALS) : null
}

/** `0.25`, with at least two digits after the point. */
export function dollarText(micro: bigint): string {
  const [whole = '', fraction = ''] = amountText(micro, DECIMALS).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
