import { batch } from '@svc/concurrency/sharing'
import type { Context } from '../context.ts'
import type { KeysAt } from '../info/signing-keys.ts'
import { type ConfirmPayment, createConfirmPayment } from './confirm-payment.ts'
import { createRequestQuote, type RequestQuote } from './request-quote.ts'
import { insertPayRequests, type PayRequest } from './store.ts'

interface Needs {
  keysAt: KeysAt
}

export interface PurchasesContext extends Context {
  keysAt: KeysAt
  /** Durable when it resolves; many quotes share a commit. */
  storePayRequest: (request: PayRequest) => Promise<void>
  requestQuote: RequestQuote
  confirmPayment: ConfirmPayment
}

export function createPurchases(context: Context, { keysAt }: Needs): PurchasesContext {
  const storePayRequest = batch(async (requests: PayRequest[]) => {
    await insertPayRequests(context.database.db, requests)
    return requests.map(() => undefined)
  })
  return {
    ...context,
    keysAt,
    storePayRequest,
    requestQuote: createRequestQuote(context),
    confirmPayment: createConfirmPayment(context),
  }
}
