// A credential of the Machine Payments Protocol names the transaction that paid. The subscription belongs to the payer,
// so no identity header is needed.

import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import {
  type Credential,
  chargeOf,
  readCredential,
  shownTransaction,
  unknownChallenge,
} from '@svc/payments/selling/mpp/credential'
import { asProblem } from '@svc/payments/selling/mpp/problems'
import { boughtAnswer } from '@svc/payments/selling/mpp/receipt'
import { quoteTexts } from '@svc/payments/selling/quote-template'
import type { Answer } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Callers } from '../callers/callers.ts'
import type { Context } from '../context.ts'
import { confirmShown } from './confirm-payment.ts'
import { subscriptionCharges } from './quote.ts'
import { findPayRequest } from './store.ts'

/** Null without a credential. */
export async function payWithCredential(
  context: Context,
  callers: Callers,
  wire: WireRequest,
): Promise<Answer<SubscriptionConfirmation> | null> {
  if (wire.headers.authorization === undefined) return null
  try {
    const credential = readCredential(wire.headers.authorization)
    return credential && (await paid(context, callers, credential, wire))
  } catch (error) {
    throw asProblem(error)
  }
}

async function paid(
  context: Context,
  callers: Callers,
  credential: Credential,
  wire: WireRequest,
): Promise<Answer<SubscriptionConfirmation>> {
  const { payReqId } = credential
  const request = await findPayRequest(context.database.db, payReqId)
  if (!request) throw unknownChallenge()
  const { accepts } = JSON.parse(request.quote) as SubscriptionQuote
  const { charges, payee } = subscriptionCharges(context.config, accepts)
  const named = chargeOf(credential, charges, quoteTexts({ payReqId, expiresAt: request.expires_at }), payee)
  const shown = shownTransaction(named)
  // Its challenges do not accept transfers that were only signed.
  if (shown === null) throw unknownChallenge()
  const { tx, ...leg } = shown
  const proof = { tx, signature: undefined }
  const body = await confirmShown(context, callers, { pay_req_id: payReqId, ...leg, identity: null, proof }, wire)
  return boughtAnswer(named.challenge, body)
}
