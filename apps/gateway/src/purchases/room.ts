import { batch } from '@svc/concurrency/sharing'
import type { SalesSecrets } from '@svc/sales/settings'
import type { Context } from '../context.ts'
import type { KeysAt } from '../keys/signing-keys.ts'
import { type ClaimPayment, createClaims } from './claim-payments.ts'
import { type ConfirmPayment, createConfirmPayment } from './confirm-payment.ts'
import { createDevFaucet, type DevFaucet } from './dev-faucet.ts'
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
  claim: ClaimPayment
  /** Null unless this gateway is for development, with chains on this machine. */
  devFaucet: DevFaucet | null
}

export function createPurchases(context: Context, { keysAt }: Needs, secrets: SalesSecrets): PurchasesContext {
  const storePayRequest = batch(async (requests: PayRequest[]) => {
    await context.database.commit((tx) => insertPayRequests(tx, requests))
    return requests.map(() => undefined)
  })
  const claim = createClaims(context)
  return {
    ...context,
    keysAt,
    storePayRequest,
    requestQuote: createRequestQuote(context),
    confirmPayment: createConfirmPayment(context, claim),
    claim,
    devFaucet: createDevFaucet(context, secrets),
  }
}
