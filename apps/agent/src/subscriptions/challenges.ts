// The challenges of the Machine Payments Protocol that quotes for subscriptions carry.

import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { WireRequest } from '@svc/http-service/wire-request'
import { acceptedCharges } from '@svc/payments/selling/mpp/accept-payment'
import { challengeHeader, chargesOf, type Payee } from '@svc/payments/selling/mpp/challenge'
import type { QuoteId } from '@svc/payments/selling/quote'
import type { Context } from '../context.ts'

/** This service sends no transfers that were only signed. */
export function payeeOf({ http, mode, payments }: Context['config']): Payee {
  return {
    realm: new URL(http.baseUrl).host,
    isDevelopment: mode === 'development',
    primaryWallet: payments.primary?.treasury ?? null,
    takesAuthorizations: false,
  }
}

/** The header WWW-Authenticate of a quote, with what the client can pay by. */
export function challengesFor(
  { config }: Context,
  { accepts }: Pick<SubscriptionQuote, 'accepts'>,
  id: QuoteId,
  { headers }: WireRequest,
): string | null {
  const payee = payeeOf(config)
  return challengeHeader(acceptedCharges(chargesOf(accepts, payee), headers['accept-payment']), id, payee)
}
