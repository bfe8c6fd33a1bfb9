// Payments from a page in a browser, which has no access to nodes.

import type { PageSeller } from '@svc/payments/selling/pay-from-page'
import type { Context } from '../../context.ts'
import { requireForSale } from '../renewal.ts'
import { findWatchedPayment } from './solana-pay/watch.ts'
import { storageSeller } from './transaction.ts'

export function pageSeller(context: Context): PageSeller {
  return {
    ...storageSeller(context),
    requireForSale: ({ quote }) => requireForSale(context, JSON.parse(quote)),
    findWatched: (payReqId) => findWatchedPayment(context, payReqId),
    passed: context.passed,
  }
}
