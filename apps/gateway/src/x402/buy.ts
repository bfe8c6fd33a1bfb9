import { networkNamed } from '@svc/api/networks'
import type { Quote } from '@svc/api/purchases'
import type { PaymentSignature, X402Purchase, X402Quote } from '@svc/api/x402'
import { addressKey } from '@svc/guard/address-key'
import { Answer, JsonText } from '@svc/http-service/answer'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { x402OfferText } from '@svc/payments/selling/payment-headers'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { limitStranger } from '../auth/limits.ts'
import { unixNow } from '../context.ts'
import { confirmation } from '../purchases/confirm-payment.ts'
import { idempotencyKey, quoteOnce } from '../purchases/idempotency.ts'
import { findPayRequest, findReceiptOfRequest, insertPayRequest, type PayRequest } from '../purchases/store.ts'
import {
  cannotSettle,
  earlierPaymentOpen,
  malformedPayment,
  onlyVersion2,
  PaymentRefused,
  paymentResponse,
  x402Disabled,
} from './errors.ts'
import { x402Receipt } from './extensions/offer-receipt.ts'
import { ANNOUNCED } from './extensions/offered.ts'
import { identifiedQuote, identifierConflict, releaseIdentifier } from './extensions/payment-identifier.ts'
import { isOpen } from './finish-settlement.ts'
import { openLocker } from './open-locker.ts'
import { payOnce } from './pay-once.ts'
import { readPaymentSignature, signedLeg } from './payment-signature.ts'
import { newX402Request, type X402Order } from './quote.ts'
import type { X402Context } from './room.ts'
import { resumeSettlement } from './settle.ts'
import type { Settler, SignedPayment } from './settler.ts'
import { findSettlement } from './store.ts'

type Bought = Answer<X402Purchase>
type Offer = Answer<JsonText<X402Quote>>
type From = Pick<SignedPayment, 'address' | 'isKeyed'>

/**
 * Without PAYMENT-SIGNATURE, answers a quote to sign; with it, settles the payment, opens the locker and answers the
 * receipt.
 */
export async function buyStorage(context: X402Context, order: X402Order, wire: WireRequest): Promise<Bought | Offer> {
  if (context.settlers.size === 0) throw x402Disabled()
  await limitStranger(context, wire, null)
  requireNewLocker(order)
  const header = wire.headers['payment-signature']
  const from = { address: addressKey(wire.clientAddress), isKeyed: idempotencyKey(wire) !== null }
  if (header !== undefined) return buy(context, order, header, from)
  if (wire.headers['x-payment'] !== undefined) throw onlyVersion2('X-PAYMENT')
  return offer(context, order, wire)
}

/** A payment that is refused for good is answered with what to sign instead. */
async function buy(context: X402Context, order: X402Order, header: string | string[], from: From): Promise<Bought> {
  const { request, signature } = await readQuote(context, order, header)
  const id = signature.extensions?.['payment-identifier']?.info.id
  try {
    const { payment, settler } = readPayment(context, request, signature, from)
    const identified = id === undefined ? request : await identifiedQuote(context, id, request)
    if (identified !== request) return await boughtBefore(context, identified, payment, settler)
    const { receipt, isNew } = await payOnce(context, payment, settler)
    return await bought(context, request, receipt, !isNew)
  } catch (error) {
    if (error instanceof PaymentRefused && id !== undefined) await releaseIdentifier(context, id, request)
    throw error instanceof PaymentRefused ? await withOffer(context, order, request, error) : error
  }
}

/** The purchase that the client's identifier names, for its payer. What was signed for the new quote is not sent. */
async function boughtBefore(
  context: X402Context,
  request: PayRequest,
  { payload, leg }: SignedPayment,
  settler: Settler,
): Promise<Bought> {
  const existing = await findReceiptOfRequest(context.database.db, request.pay_req_id)
  const settled = existing ? { receipt: existing, isNew: false } : await resumeSettlement(context, request)
  if (settled === 'none' || settled === 'failed' || settled === 'expired') throw identifierConflict()
  if (isOpen(settled)) throw earlierPaymentOpen(settled.network, settled.open)
  // Identifiers may be guessed, and payments on chain are seen by everybody.
  const isPayer = (await settler.signer(payload, leg)) === settled.receipt.payer_pubkey
  if (!isPayer || !(await settler.isUnsent(payload, leg))) throw identifierConflict()
  await context.continuity.requireWritten({ kind: 'receipt', key: settled.receipt.receipt_id })
  return bought(context, request, settled.receipt, true)
}

/**
 * Under an Idempotency-Key, a call that is repeated gets the same quote, also once it is paid: a key may be guessed, and
 * the receipt is for its payer (ADD-13). A stock client signs once more, is recognized by that, and pays nothing.
 */
async function offer(context: X402Context, order: X402Order, wire: WireRequest): Promise<Offer> {
  const { db } = context.database
  const key = idempotencyKey(wire)
  if (key === null) return offered(context, await newStoredRequest(context, order))
  const { units = 1, provider = null, tags = null, ...unknown } = order
  const request = await quoteOnce(context, {
    key,
    order: ['x402', units, provider, tags],
    unknown,
    make: () => newX402Request(context, order),
    isUsed: async ({ pay_req_id }) =>
      Boolean((await findReceiptOfRequest(db, pay_req_id)) ?? (await findSettlement(db, pay_req_id))),
  })
  if (await findReceiptOfRequest(db, request.pay_req_id)) return offered(context, request)
  // Throws while a payment is under way: what is signed then would be refused.
  const earlier = await resumeSettlement(context, request)
  if (isOpen(earlier)) throw earlierPaymentOpen(earlier.network, earlier.open)
  return offered(context, request)
}

async function newStoredRequest(context: X402Context, order: X402Order): Promise<PayRequest> {
  const request = await newX402Request(context, order)
  await context.database.commit((tx) => insertPayRequest(tx, request))
  return request
}

async function offered({ signOffers }: X402Context, { quote: text, expires_at }: PayRequest): Promise<Offer> {
  const quote = JSON.parse(text) as X402Quote
  const signed = { ...quote, extensions: { ...quote.extensions, ...(await signOffers(quote, expires_at)) } }
  return new Answer(402, new JsonText<X402Quote>(JSON.stringify(signed)), {
    'payment-required': paymentRequired(quote),
  })
}

function paymentRequired(quote: X402Quote, error?: string): string {
  return Buffer.from(x402OfferText(quote, { error, extensions: ANNOUNCED })).toString('base64')
}

/**
 * The same quote while it can be paid, because it is paid once at most; otherwise a new one. Not instead of a renewal:
 * what is sold here is a new locker.
 */
async function withOffer(
  context: X402Context,
  order: X402Order,
  request: PayRequest,
  refusal: PaymentRefused,
): Promise<ServiceError> {
  const { db } = context.database
  const receipt = await findReceiptOfRequest(db, request.pay_req_id)
  // What was sent before may still pay: nothing must be signed beside it.
  if (!receipt && (await findSettlement(db, request.pay_req_id))) return refusal
  // The signature may be for any quote of this gateway.
  const { svc } = (JSON.parse(request.quote) as X402Quote | Quote).extensions
  if ('renewal' in svc) return refusal
  const isPayable = !receipt && svc.info.flow === 'sign-and-repeat' && unixNow(context) <= request.expires_at
  try {
    const payable = isPayable ? request : await newStoredRequest(context, order)
    return refusal.offering(paymentRequired(JSON.parse(payable.quote), refusal.reason))
  } catch (error) {
    // The refusal counts, even where nothing can be sold right now.
    if (error instanceof ServiceError) return refusal
    throw error
  }
}

/** Reads the signature and the quote that it is for. */
async function readQuote(
  { database }: X402Context,
  order: X402Order,
  header: string | string[],
): Promise<{ request: PayRequest; signature: PaymentSignature }> {
  const signature = readPaymentSignature(header)
  const request = await findPayRequest(database.db, signature.accepted.extra.pay_req_id)
  if (!request)
    throw new ServiceError('pay_req_not_found', 'there is no quote with this pay_req_id', {
      hint: 'if it was paid before, POST /v1/storage/confirm with its transaction gives the receipt; otherwise repeat the request without PAYMENT-SIGNATURE for a quote',
    })
  requireSameOrder(order, request)
  return { request, signature }
}

function readPayment(
  context: X402Context,
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
  if (id === null) throw malformedPayment(`holds no payment of the exact scheme on ${leg.network}`)
  return { payment: { request, leg, payload: signature.payload, id, ...from }, settler }
}

/** The signature pays for its quote: a body that orders something else is refused before paying. */
function requireSameOrder({ units, provider }: X402Order, request: PayRequest): void {
  if (units !== undefined && units !== request.units) throw otherOrder('units', request.units)
  if (provider !== undefined && provider !== request.provider) throw otherOrder('provider', request.provider)
}

function requireNewLocker({ extends: renewed }: X402Order): void {
  if (renewed === undefined) return
  const msg = 'a renewal is not sold here: ask for its quote with POST /v1/storage/request and pay that on chain'
  throw new ValidationError({ loc: ['body', 'extends'], msg })
}

function otherOrder(field: string, quoted: string | number): ValidationError {
  return new ValidationError({ loc: ['body', field], msg: `the quote that was signed for says ${quoted}` })
}

async function bought(
  context: X402Context,
  request: PayRequest,
  receipt: SignedReceipt,
  idempotent: boolean,
): Promise<Bought> {
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
  const opened = await openLocker(context, request, receipt)
  return new Answer(200, { ...confirmation(receipt, idempotent), ...opened }, headers)
}
