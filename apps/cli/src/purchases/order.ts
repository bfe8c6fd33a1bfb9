import { nameObjection, provisionObjection } from '@svc/sdk'
import { UsageError } from '../errors.ts'
import type { OrderOptions } from '../options.ts'
import type { PriceLimit } from './approve-payment.ts'

export interface BuyOptions extends OrderOptions, PriceLimit {
  name?: string
  tag?: string[]
  operator?: string
  qr?: boolean
}

/** The options of an order, as on a command line. */
export function orderText({ units, provider, asset }: BuyOptions): string {
  return [`--units ${units}`, provider && `--provider ${provider}`, asset && `--asset ${asset}`]
    .filter(Boolean)
    .join(' ')
}

/** Rejects names and tags that the gateway would refuse when the locker is opened, before anything is paid. */
export function requireProvisionable({
  name,
  tag = [],
  operator,
}: Pick<BuyOptions, 'name' | 'tag' | 'operator'>): void {
  // The name is one of the tags.
  const tags = name === undefined ? tag : [...tag, name]
  const objection =
    (name === undefined ? null : nameObjection(name)) ?? provisionObjection({ tags, ...(operator && { operator }) })
  if (objection !== null) throw new UsageError(objection)
}
