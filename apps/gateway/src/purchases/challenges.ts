// The challenges of the Machine Payments Protocol that quotes for storage carry.

import type { Quote } from '@svc/api/purchases'
import type { WireRequest } from '@svc/http-service/wire-request'
import { acceptedCharges } from '@svc/payments/selling/mpp/accept-payment'
import { type Charge, challengeHeader, chargesOf, type Payee } from '@svc/payments/selling/mpp/challenge'
import type { QuoteId } from '@svc/payments/selling/quote'
import type { Config } from '../config.ts'
import type { PayRequest } from './store.ts'

/** A renewal is paid on chain only: what payers have signed opens a new locker. */
function payeeOf({ http, mode, payments, x402 }: Config, isRenewal: boolean): Payee {
  return {
    realm: new URL(http.baseUrl).host,
    isDevelopment: mode === 'development',
    primaryWallet: payments.primary?.treasury ?? null,
    takesAuthorizations: x402.takesAuthorizations && !isRenewal,
  }
}

export interface Charges {
  charges: readonly Charge[]
  payee: Payee
}

export function quoteCharges(config: Config, { accepts, extensions }: Quote): Charges {
  const payee = payeeOf(config, extensions.svc.renewal !== undefined)
  return { charges: chargesOf(accepts, payee), payee }
}

export function quoteIdOf({ pay_req_id, expires_at }: Pick<PayRequest, 'pay_req_id' | 'expires_at'>): QuoteId {
  return { payReqId: pay_req_id, expiresAt: expires_at }
}

/** The header WWW-Authenticate of a quote, with what the client can pay by. */
export function challengesFor({ charges, payee }: Charges, id: QuoteId, { headers }: WireRequest): string | null {
  return challengeHeader(acceptedCharges(charges, headers['accept-payment']), id, payee)
}
