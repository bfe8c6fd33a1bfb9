// Paying from a page in a browser, which reaches no node by itself.

import type { PageSeller } from '@svc/payments/selling/pay-from-page'
import { limitStranger } from '../../auth/limits.ts'
import type { PurchasesContext } from '../context.ts'
import { requireForSale } from '../renewal.ts'
import { findPayRequest, findReceiptOfRequest } from '../store.ts'
import { findWatchedPayment } from './solana-pay/watch-payments.ts'

export function pageSeller(context: PurchasesContext): PageSeller {
  const { db } = context.database
  return {
    ...context,
    limitStranger: (wire) => limitStranger(context, wire, null),
    findQuote: (payReqId) => findPayRequest(db, payReqId),
    findTransaction: async (payReqId) => (await findReceiptOfRequest(db, payReqId))?.tx_hash ?? null,
    requireForSale: ({ quote }) => requireForSale(context, JSON.parse(quote)),
    findWatched: (payReqId) => findWatchedPayment(context, payReqId),
  }
}
