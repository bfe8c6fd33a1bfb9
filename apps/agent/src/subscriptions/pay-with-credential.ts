// A credential of the Machine Payments Protocol shows the transaction that paid. The subscription is the payer's own, so
// nobody has to be named.

import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { Answer } from '@svc/http-service/answer'
import type { WireRequest } from '@svc/http-service/wire-request'
import { chargesOf } from '@svc/payments/selling/mpp/challenge'
import { type Credential, chargeOf, readCredential, unknownChallenge } from '@svc/payments/selling/mpp/credential'
import { asProblem } from '@svc/payments/selling/mpp/problems'
import { paymentReceipt } from '@svc/payments/selling/mpp/receipt'
import { canonicalTx } from '@svc/protocol/ids'
import type { Callers } from '../callers/callers.ts'
import type { Context } from '../context.ts'
import { payeeOf } from './challenges.ts'
import { confirmShown } from './confirm-payment.ts'
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
  const payee = payeeOf(context.config)
  const id = { payReqId, expiresAt: request.expires_at }
  const { charge, challenge, payload } = chargeOf(credential, chargesOf(accepts, payee), id, payee)
  const { network: pay_network, extra } = charge.leg
  const tx = canonicalTx(payload.type === 'hash' ? payload.hash : payload.signature)
  const shown = { pay_req_id: payReqId, pay_network, pay_asset: extra.name }
  const body = await confirmShown(
    context,
    callers,
    { ...shown, identity: null, proof: { tx, signature: undefined } },
    wire,
  )
  return new Answer(200, body, paymentReceipt(challenge, body.receipt))
}
