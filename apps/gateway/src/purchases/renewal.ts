// Quotes for a purchase that extends a locker (ADD-17). Anybody who knows its receipt may pay: it can only gain by that.
// The quote says when the locker ends and how much was bought for it, never how much of it is used (T-57).

import type { Quote, Renewal } from '@svc/api/purchases'
import { ValidationError } from '@svc/http-service/service-error'
import { receiptNotFound } from '../auth/errors.ts'
import { requireWritable } from '../auth/restrictions.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import { type Context, unixNow } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { renewable } from '../lockers/renew-locker.ts'
import { extended } from '../lockers/terms.ts'
import { type Order, priceStorage } from './prices.ts'
import { newQuoteFacts, payRequestOf, quoteBody, scaleTerms } from './quote.ts'
import type { PayRequest } from './store.ts'

export interface RenewalOrder extends Order {
  extends: string
}

export function isRenewal(order: Order & { extends?: string }): order is RenewalOrder {
  return order.extends !== undefined
}

export async function newRenewalRequest(context: Context, order: RenewalOrder): Promise<PayRequest> {
  const locker = await findRenewed(context, order)
  const provider = locker.provider as Order['provider'] // from the quote that it was bought with
  const facts = newQuoteFacts(context, await priceStorage(context, { ...order, provider }, 'body'))
  const renewal = renewalOf(locker, scaleTerms(facts.terms, facts.units), unixNow(context))
  // The x402 endpoint sells new lockers only.
  return payRequestOf(facts, JSON.stringify(quoteBody({ ...facts, x402Url: null, renewal })))
}

async function findRenewed({ database }: Context, order: RenewalOrder): Promise<Locker> {
  const found = await findReceiptAndLocker(database.db, order.extends)
  if (!found) throw receiptNotFound()
  const locker = renewable(found.receipt, found.locker)
  requireWritable(locker)
  if (order.provider === undefined || order.provider === locker.provider) return locker
  throw new ValidationError({ loc: ['body', 'provider'], msg: `the locker is at ${locker.provider}: leave it out` })
}

/** A locker may be restricted after its renewal was quoted: nothing is sold to it then (T-84). */
export async function requireForSale({ database }: Context, { extensions }: Quote): Promise<void> {
  const { renewal } = extensions.svc
  const found = renewal && (await findReceiptAndLocker(database.db, renewal.receipt_id))
  if (found?.locker) requireWritable(found.locker)
}

/** What the locker has once it is paid; exact for a payment at this moment. */
function renewalOf(locker: Locker, bought: Parameters<typeof extended>[1], now: number): Renewal {
  const { terms, expires_at } = extended(locker, bought, now)
  const { storage_limit_bytes, file_limit, egress_included_bytes } = terms
  const { receipt_id, locker_id } = locker
  return { receipt_id, locker_id, storage_limit_bytes, file_limit, egress_included_bytes, expires_at }
}
