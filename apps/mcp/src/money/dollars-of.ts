// What a payment is worth. What the gateway says of its worth does not count: a limit must hold against gateways too.

import type { PaymentLeg } from '@svc/api/purchases'
import type { Limits } from '../settings.ts'

const PRIMARY = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const EVM = 'eip155:143'

/** Tokens that are worth a dollar, with six decimals, at addresses that everybody knows. */
const DOLLAR_TOKENS = new Set([
  `${PRIMARY} EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`, // USDC
  `${PRIMARY} Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB`, // USDT
  `${EVM} 0x754704bc059f8c67012fed69bc8a327a5aafb603`, // USDC
])

const COINS: Record<string, { coin: keyof Limits['coins']; decimals: number }> = {
  [`${PRIMARY} So11111111111111111111111111111111111111112`]: { coin: 'SOL', decimals: 9 },
  [`${EVM} 0x0000000000000000000000000000000000000000`]: { coin: 'MON', decimals: 18 },
}

/** In millionths, rounded up; null where nobody has said what the asset counts for. */
export function dollarsOf({ network, asset, amount }: PaymentLeg, { coins }: Limits): bigint | null {
  const id = `${network} ${network.startsWith('eip155:') ? asset.toLowerCase() : asset}`
  if (DOLLAR_TOKENS.has(id)) return BigInt(amount)
  const native = COINS[id]
  const worth = native && coins[native.coin]
  if (!native || !worth) return null
  const whole = 10n ** BigInt(native.decimals)
  return (BigInt(amount) * worth + whole - 1n) / whole
}
