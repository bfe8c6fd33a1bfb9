// From a payment credential to the receipt: by the transaction that the payer has sent, or by sending what they signed.

import type { Body } from '@svc/api/endpoint'
import type { Confirmation, confirmStorage, Quote, requestStorage } from '@svc/api/purchases'
import { Answer } from '@svc/http-service/answer'
import { ValidationError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Challenge } from '@svc/payments/selling/mpp/challenge'
import { type Credential, chargeOf, readCredential, unknownChallenge } from '@svc/payments/selling/mpp/credential'
import { asProblem } from '@svc/payments/selling/mpp/problems'
import { paymentReceipt } from '@svc/payments/selling/mpp/receipt'
import { limitStranger } from '../../../auth/limits.ts'
import { unixNow } from '../../../context.ts'
import { challengesFor, quoteCharges, quoteIdOf } from '../../challenges.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from '../../store.ts'
import { confirmation } from '../transaction.ts'
import { PaymentRefused } from '../x402/errors.ts'
import { openLocker } from '../x402/open-locker.ts'
import { payOnce } from '../x402/pay-once.ts'
import { findSettlement } from '../x402/store.ts'
import { signedTransfer } from './authorization.ts'
import type { MppContext } from './room.ts'

type Order = Body<typeof requestStorage>
type Confirm = Body<typeof confirmStorage>
type Bought = Answer<Confirmation>

/** Clients repeat the order that was answered with the challenge. Without a credential, it is answered with a quote. */
export async function payWithCredential(context: MppContext, order: Order, wire: WireRequest) {
  const credential = await readCounted(context, wire)
  if (!credential) return context.requestQuote(order, wire)
  const request = await findQuote(context, credential)
  requireSameOrder(order, request)
  return pay(context, request, credential, wire)
}

export async function confirmWithCredential(context: MppContext, body: Confirm, wire: WireRequest) {
  const credential = await readCounted(context, wire)
  if (!credential) return context.confirmPayment(body, wire)
  if (credential.payReqId !== body.pay_req_id) throw asProblem(unknownChallenge())
  return pay(context, await findQuote(context, credential), credential, wire)
}

/** A credential that cannot be used is counted like one that can. */
async function readCounted(context: MppContext, wire: WireRequest): Promise<Credential | null> {
  try {
    const credential = readCredential(wire.headers.authorization)
    if (credential) await limitStranger(context, wire, null)
    return credential
  } catch (error) {
    await limitStranger(context, wire, null)
    throw asProblem(error)
  }
}

async function findQuote({ database }: MppContext, { payReqId }: Credential): Promise<PayRequest> {
  const request = await findPayRequest(database.db, payReqId)
  if (!request) throw asProblem(unknownChallenge())
  return request
}

async function pay(context: MppContext, request: PayRequest, credential: Credential, wire: WireRequest) {
  try {
    return await paid(context, request, credential, wire)
  } catch (error) {
    throw asProblem(error, error instanceof PaymentRefused ? await challengesAgain(context, request, wire) : null)
  }
}

async function paid(
  context: MppContext,
  request: PayRequest,
  credential: Credential,
  wire: WireRequest,
): Promise<Bought> {
  const { charges, payee } = quoteCharges(context.config, JSON.parse(request.quote) as Quote)
  const { charge, challenge, payload } = chargeOf(credential, charges, quoteIdOf(request), payee)
  if (payload.type === 'authorization') {
    await context.continuity.requireCurrent()
    const { payment, settler } = signedTransfer(context, { request, charge, challenge, payload, wire })
    const { receipt, isNew } = await payOnce(context, payment, settler)
    const { locker_id } = await openLocker(context, request, receipt)
    return bought(challenge, { ...confirmation(receipt, !isNew), locker_id })
  }
  const { network: pay_network, extra } = charge.leg
  const tx_sig = payload.type === 'hash' ? payload.hash : payload.signature
  const body = { pay_req_id: request.pay_req_id, tx_sig, pay_network, pay_asset: extra.name }
  return bought(challenge, await context.confirmPayment(body, wire))
}

function bought(challenge: Challenge, body: Confirmation): Bought {
  return new Answer(200, body, paymentReceipt(challenge, body.receipt))
}

/**
 * After a signed payment that never pays, the challenges of the same quote: whoever signs them once more signs the same
 * authorization, which pays once. Not while the quote is paid, being paid or expired.
 */
async function challengesAgain({ database, config, ...context }: MppContext, request: PayRequest, wire: WireRequest) {
  const { db } = database
  const { pay_req_id, expires_at } = request
  if (unixNow(context) > expires_at) return null
  if ((await findReceiptOfRequest(db, pay_req_id)) ?? (await findSettlement(db, pay_req_id))) return null
  return challengesFor(quoteCharges(config, JSON.parse(request.quote) as Quote), quoteIdOf(request), wire)
}

/** The credential pays for its quote: a body that orders something else is refused before anything is paid. */
function requireSameOrder({ units, provider, extends: renewed }: Order, request: PayRequest): void {
  const { renewal } = (JSON.parse(request.quote) as Quote).extensions.svc
  if (units !== request.units) throw otherOrder('units', String(request.units))
  if (provider !== undefined && provider !== request.provider) throw otherOrder('provider', request.provider)
  if (renewed !== renewal?.receipt_id) throw otherOrder('extends', renewal ? 'a renewal' : 'a new locker')
}

function otherOrder(field: string, quoted: string): ValidationError {
  return new ValidationError({ loc: ['body', field], msg: `the quote of the credential is for ${quoted}` })
}
