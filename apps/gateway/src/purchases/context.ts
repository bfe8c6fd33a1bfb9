import type { SalesSecrets } from '@svc/payments/selling/settings'
import type { Context } from '../context.ts'
import type { KeysAt } from '../keys/signing-keys.ts'
import { createDevFaucet, type DevFaucet } from './dev-faucet.ts'
import { type ConfirmPayment, createConfirmPayment } from './protocols/transaction.ts'
import { createRequestQuote, type RequestQuote } from './request-quote.ts'

interface Needs {
  keysAt: KeysAt
}

export interface PurchasesContext extends Context {
  keysAt: KeysAt
  requestQuote: RequestQuote
  confirmPayment: ConfirmPayment
  /** Null unless this gateway is for development, with chains on this machine. */
  devFaucet: DevFaucet | null
}

export function createPurchases(context: Context, { keysAt }: Needs, secrets: SalesSecrets): PurchasesContext {
  return {
    ...context,
    keysAt,
    requestQuote: createRequestQuote(context),
    confirmPayment: createConfirmPayment(context),
    devFaucet: createDevFaucet(context, secrets),
  }
}
