import type { Seller } from '@svc/payments/selling/seller'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { confirmUrlOf } from './quote.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from './store.ts'

/** This gateway as a seller of storage. */
export function storageSeller(context: Context): Seller<PayRequest, { receipt: SignedReceipt }> {
  const { sales, config, log, now, continuity } = context
  const { db } = context.database
  return {
    sales,
    config,
    log,
    now,
    confirmUrl: confirmUrlOf(config.http),
    limitStranger: (wire) => limitStranger(context, wire, null),
    findQuote: (payReqId) => findPayRequest(db, payReqId),
    async findBought(payReqId) {
      const receipt = await findReceiptOfRequest(db, payReqId)
      return receipt && { receipt }
    },
    requireCurrent: () => continuity.requireCurrent(),
  }
}
