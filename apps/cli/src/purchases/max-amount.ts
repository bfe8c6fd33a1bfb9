import type { PaymentLeg } from '@svc/api/quote'
import { atomicAmount } from '@svc/sdk/money'
import { Failure, UsageError } from '../failures.ts'
import { shown } from '../output/shown.ts'
import { askedAmount } from './asked-amount.ts'

export interface PriceLimit {
  asset?: string
  /** The most to pay, in whole units of the asset: `0.5`. */
  max?: string
}

/** A number says nothing as long as it is not said of what. */
export function requireAsset({ asset, max }: PriceLimit): void {
  if (max !== undefined && asset === undefined) throw new UsageError('--max needs --asset', 'so many of what?')
}

export function requireWithin(leg: PaymentLeg, { max }: PriceLimit): void {
  if (max === undefined || BigInt(leg.amount) <= (atomicAmount(max, leg.extra.decimals) ?? 0n)) return
  throw new Failure(`${shown(askedAmount(leg))} is asked for, more than --max ${max}`)
}
