import type { OrderOptions } from '../options.ts'
import type { PriceLimit } from './approve-payment.ts'

export interface BuyOptions extends OrderOptions, PriceLimit {
  name?: string
  tag?: string[]
  operator?: string
  qr?: boolean
}

/** The options that make up an order, as on a command line. */
export function orderText({ units, provider, asset }: BuyOptions): string {
  return [`--units ${units}`, provider && `--provider ${provider}`, asset && `--asset ${asset}`]
    .filter(Boolean)
    .join(' ')
}
