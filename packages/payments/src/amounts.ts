// Money as integers of atomic units and as decimal text, never as a float (T-22).

import type { Asset } from '@svc/api/assets'

/** `digits` / 10^`scale`. */
export interface Decimal {
  digits: bigint
  scale: number
}

/** Plain decimal text: no sign, exponent or leading zeros. Null for anything else. */
export function parseDecimal(text: string): Decimal | null {
  const match = /^(0|[1-9]\d{0,39})(?:\.(\d{1,40}))?$/.exec(text)
  if (!match) return null
  const [, whole = '', fraction = ''] = match
  return { digits: BigInt(whole + fraction), scale: fraction.length }
}

/** Atomic units in display units: `human_amount`, `paid_amount` (PAY-21). */
export function displayAmount(raw: bigint, decimals: number): string {
  const digits = raw.toString().padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const fraction = digits.slice(point).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
}

export function multiplyUsd(unitPrice: string, units: number): string {
  const { digits, scale } = decimal(unitPrice)
  return displayAmount(digits * BigInt(units), scale)
}

export interface LegTerms {
  totalUsd: string
  units: number
  asset: Pick<Asset, 'decimals' | 'pricing'>
  /** USD for one coin; null where the oracle does not price the asset. */
  usdRate: string | null
}

/**
 * The smallest amount that is worth the total, and at least one unit: rounding must never make a purchase free (T-22).
 */
export function legAmount({ totalUsd, units, asset, usdRate }: LegTerms): bigint {
  const oneCoin = 10n ** BigInt(asset.decimals)
  const amount =
    asset.pricing.by === 'flat'
      ? BigInt(units) * oneCoin
      : divideUp(decimal(totalUsd), decimal(asset.pricing.by === 'oracle' ? usdRate : '1'), oneCoin)
  return amount > 0n ? amount : 1n
}

/** `total` / `rate` in parts of `oneCoin`. */
function divideUp(total: Decimal, rate: Decimal, oneCoin: bigint): bigint {
  if (rate.digits === 0n) throw new RangeError('a rate of 0 prices nothing')
  const dividend = total.digits * oneCoin * 10n ** BigInt(rate.scale)
  const divisor = rate.digits * 10n ** BigInt(total.scale)
  return (dividend + divisor - 1n) / divisor
}

function decimal(text: string | null): Decimal {
  const value = text === null ? null : parseDecimal(text)
  if (!value) throw new RangeError(`"${text}" is not a decimal number`)
  return value
}
