// Purchases with a payment that an x402 client has signed (PAYMENT-SIGNATURE): the gateway sends it and opens the
// locker.

import { networkNamed } from '@svc/api/networks'
import type { PaymentSignature, X402Purchase, X402Quote } from '@svc/api/x402'
import { addressKey } from '@svc/service/guard/address-key'
import { Answer } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { limitAnonymous } from '../../../auth/limits.ts'
import type { Context } from '../../../context.ts'
import { idempotencyKey } from '../../idempotency.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from '../../store.ts'
import { confirmation } from '../transaction.ts'
import {
  cannotSettle,
  earlierPaymentOpen,
  malformedPayment,
  onlyVersion2,
  PaymentRefused,
  paymentResponse,
  x402Disabled,
} from './errors.ts'
import { earlier, isOpen, type Settled } from './finish-settlement.ts'
import { type Offer, offer, withOffer, type X402Order } from './offer.ts'
import { x402Receipt } from './offer-receipt.ts'
import { openLocker, payOnce } from './pay-once.ts'
import { identifiedQuote, identifierConflict, releaseIdentifier } from './payment-identifier.ts'
import { readPaymentSignature, signedLeg } from './payment-signature.ts'
import { resumeSettlement } from './settle.ts'
import type { Settler, SignedPayment } from './settler.ts'

type Bought = Answer<X402Purchase>
type From = Pick<SignedPayment, 'address' | 'isKeyed'>

/**
 * Without PAYMENT-SIGNATURE, returns a quote to sign; with it, settles the payment, opens the locker and returns the
 * receipt.
 */
export async function buyStorage(context: Context, order: X402Order, wire: WireRequest): Promise<Bought | Offer> {
  if (context.settlers.size === 0) throw x402Disabled()
  await limitAnonymous(context, wire, null)
  requireNewLocker(order)
  const header = wire.headers['payment-signature']
  const from = { address: addressKey(wire.clientAddress), isKeyed: idempotencyKey(wire) !== null }
  if (header !== undefined) return buy(context, order, header, from)
  if (wire.headers['x-payment'] !== undefined) throw onlyVersion2('X-PAYMENT')
  return offer(context, order, wire)
}

/** A permanently rejected payment is answered with a new offer to sign. */
async function buy(context: Context, order: X402Order, header: string | string[], from: From): Promise<Bought> {
  const { request, signature } = await readQuote(context, order, header)
  const id = signature.extensions?.['payment-identifier']?.info.id
  try {
    const { payment, settler } = readPayment(context, request, signature, from)
    const identified = id === undefined ? request : await identifiedQuote(context, id, request)
    if (identified !== request) return await boughtBefore(context, identified, payment, settler)
    return await bought(context, request, await payOnce(context, payment, settler))
  } catch (error) {
    if (error instanceof PaymentRefused && id !== undefined) await releaseIdentifier(context, id, request)
    throw error instanceof PaymentRefused ? await withOffer(context, order, request, error) : error
  }
}

/** The purchase that the client's identifier names, for its payer. The payment signed for the new quote is not sent. */
async function boughtBefore(
  context: Context,
  request: PayRequest,
  { payload, leg }: SignedPayment,
  settler: Settler,
): Promise<Bought> {
  const existing = await findReceiptOfRequest(context.database.db, request.pay_req_id)
  const settled = existing ? earlier(existing) : await resumeSettlement(context, request)
  if (settled === 'none' || settled === 'failed' || settled === 'expired') throw identifierConflict()
  if (isOpen(settled)) throw earlierPaymentOpen(settled.network, settled.open)
  // Identifiers can be guessed, and payments on chain are public.
  const isPayer = (await settler.signer(payload, leg)) === settled.receipt.payer_pubkey
  if (!isPayer || !(await settler.isUnsent(payload, leg))) throw identifierConflict()
  await context.continuity.requireWritten({ kind: 'receipt', key: settled.receipt.receipt_id })
  return bought(context, request, { ...settled, isNew: false })
}

/** Reads the signature and its quote. */
async function readQuote(
  { database }: Context,
  order: X402Order,
  header: string | string[],
): Promise<{ request: PayRequest; signature: PaymentSignature }> {
  const signature = readPaymentSignature(header)
  const request = await findPayRequest(database.db, signature.accepted.extra.pay_req_id)
  if (!request)
    throw new ServiceError('pay_req_not_found', 'no quote has this pay_req_id', {
      hint: 'if you have paid it, get the receipt with POST /v1/storage/confirm and its transaction; otherwise repeat the request without PAYMENT-SIGNATURE to get a quote',
    })
  requireSameOrder(order, request)
  return { request, signature }
}

function readPayment(
  context: Context,
  request: PayRequest,
  signature: PaymentSignature,
  from: From,
): { payment: SignedPayment; settler: Settler } {
  const { accepts } = JSON.parse(request.quote) as X402Quote
  const leg = signedLeg(accepts, signature)
  const network = networkNamed(leg.network)
  const settler = network && context.settlers.get(network)
  if (!settler) throw cannotSettle()
  const id = settler.paymentId(signature.payload)
  if (id === null) throw malformedPayment(`contains no payment of the exact scheme on ${leg.network}`)
  return { payment: { request, leg, payload: signature.payload, id, ...from }, settler }
}

/** The signature pays for its quote: a body that orders something else is rejected before payment. */
function requireSameOrder({ units, provider }: X402Order, request: PayRequest): void {
  if (units !== undefined && units !== request.units) throw otherOrder('units', request.units)
  if (provider !== undefined && provider !== request.provider) throw otherOrder('provider', request.provider)
}

function requireNewLocker({ extends: renewed }: X402Order): void {
  if (renewed === undefined) return
  const msg = 'renewals are not sold here: request a quote with POST /v1/storage/request and pay it on chain'
  throw new ValidationError({ loc: ['body', 'extends'], msg })
}

function otherOrder(field: string, quoted: string | number): ValidationError {
  return new ValidationError({ loc: ['body', field], msg: `the signed quote is for ${quoted}` })
}

async function bought(context: Context, request: PayRequest, settled: Settled): Promise<Bought> {
  const { receipt, isNew } = settled
  const network = networkNamed(receipt.network)?.caip2 ?? receipt.network
  const { url } = (JSON.parse(request.quote) as X402Quote).resource
  const signed = await x402Receipt(context, url, network, receipt)
  const headers = paymentResponse({
    success: true,
    transaction: receipt.tx_hash,
    network,
    payer: receipt.payer_pubkey,
    ...(signed && { extensions: { 'offer-receipt': { info: { receipt: signed } } } }),
  })
  const opened = await openLocker(context, request, settled)
  return new Answer(200, { ...confirmation(receipt, !isNew), ...opened }, headers)
}
