import { payReqNotFound } from '@svc/payments/selling/errors'
import type { Seller } from '@svc/payments/selling/seller'
import type { Callers } from '../callers/callers.ts'
import type { Context } from '../context.ts'
import type { PayRequest } from '../db/schema.ts'
import { confirmUrlOf } from './quote.ts'
import { findPayRequest, findPurchase, type Purchase } from './store.ts'

/** This service as a seller of subscriptions. */
export function subscriptionSeller(context: Context, { limitStranger }: Callers): Seller<PayRequest, Purchase> {
  const { sales, config, log, now } = context
  const { db } = context.database
  return {
    sales,
    config,
    log,
    now,
    confirmUrl: confirmUrlOf(config.http),
    limitStranger,
    findQuote: (payReqId) => findPayRequest(db, payReqId),
    async findBought(payReqId) {
      const purchase = await findPurchase(db, payReqId)
      if (purchase === null && (await findPayRequest(db, payReqId)) === null) throw payReqNotFound()
      return purchase
    },
  }
}
