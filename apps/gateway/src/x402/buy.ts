import type { Confirmation } from '@svc/api/purchases'
import type { X402Quote } from '@svc/api/x402'
import { addressKey } from '@svc/guard/address-key'
import { Answer, JsonText } from '@svc/http-service/answer'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { networkNamed } from '@svc/payments/networks'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { quotedLeg } from '@svc/sales/read-payment'
import { limitStranger } from '../auth/limits.ts'
import { confirmation } from '../purchases/confirm-payment.ts'
import { idempotencyKey, quoteOnce } from '../purchases/idempotency.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from '../purchases/store.ts'
import { cannotSettle, notSettled, paymentResponse, x402Disabled } from './errors.ts'
import { readPaymentSignature, signedLeg, unreadable } from './payment-signature.ts'
import { newX402Request, type X402Order } from './quote.ts'
import type { X402Context } from './room.ts'
import { resumeSettlement, type SignedPayment, settlePayment } from './settle.ts'
import type { Settler } from './settler.ts'
import { findSettlement } from './store.ts'

type Bought = Answer<Confirmation>
type Offer = Answer<JsonText<X402Quote>>

/** Without PAYMENT-SIGNATURE, answers a quote to sign; with it, settles the payment and answers the receipt. */
export async function buyStorage(context: X402Context, order: X402Order, wire: WireRequest): Promise<Bought | Offer> {
  if (context.settlers.size === 0) throw x402Disabled()
  await limitStranger(context, wire, null)
  const header = wire.headers['payment-signature']
  if (header === undefined) return offer(context, order, wire)
  const { payment, settler } = await readPayment(context, order, header, addressKey(wire.clientAddress))
  const existing = await findReceiptOfRequest(context.database.db, payment.request.pay_req_id)
  const { receipt, isNew } = existing ? { receipt: existing, isNew: false } : await settlePayment(context, payment)
  await requirePayer(context, payment, settler, receipt)
  return bought(receipt, !isNew)
}

/**
 * Somebody else may have paid the quote, or the settlement that was resumed may be theirs. The receipt is for who sends
 * the payment that was settled, or another one that the payer signed (ADD-13).
 */
async function requirePayer(
  { database }: X402Context,
  { id, request, payload, leg }: SignedPayment,
  settler: Settler,
  { payer_pubkey }: SignedReceipt,
): Promise<void> {
  const settlement = await findSettlement(database.db, request.pay_req_id)
  if (settlement?.payment_id === id || (await settler.signer(payload, leg)) === payer_pubkey) return
  throw notSettled({ why: 'invalid', reason: 'quote_already_paid' }, quotedLeg(leg).network)
}

/**
 * Under an Idempotency-Key, a call that is repeated gets the same quote, also once it is paid: a key may be guessed, and
 * the receipt is for its payer (ADD-13). A stock client signs once more, is recognized by that, and pays nothing.
 */
async function offer(context: X402Context, order: X402Order, wire: WireRequest): Promise<Offer> {
  const { db } = context.database
  const key = idempotencyKey(wire)
  const make = () => newX402Request(context, order)
  if (key === null) {
    const request = await make()
    await context.storePayRequest(request)
    return offered(request)
  }
  const { units, provider, tags } = order
  const request = await quoteOnce(context, {
    key,
    order: JSON.stringify(['x402', units, provider ?? null, tags ?? null]),
    make,
    isUsed: async ({ pay_req_id }) =>
      Boolean((await findReceiptOfRequest(db, pay_req_id)) ?? (await findSettlement(db, pay_req_id))),
  })
  // Throws while a payment is under way: what is signed then would be refused.
  if (!(await findReceiptOfRequest(db, request.pay_req_id))) await resumeSettlement(context, request)
  return offered(request)
}

function offered({ quote }: PayRequest): Offer {
  const { x402Version, resource, accepts, error, extensions } = JSON.parse(quote) as X402Quote
  // Clients send these extensions back with their signature. The body has all of them.
  const header = { x402Version, error, resource, accepts, extensions: { svc: { info: extensions.svc.info } } }
  const encoded = Buffer.from(JSON.stringify(header)).toString('base64')
  return new Answer(402, new JsonText<X402Quote>(quote), { 'payment-required': encoded })
}

/** Reads the signed payment and its quote. */
async function readPayment(
  context: X402Context,
  order: X402Order,
  header: string | string[],
  address: string,
): Promise<{ payment: SignedPayment; settler: Settler }> {
  const { db } = context.database
  const signature = readPaymentSignature(header)
  const request = await findPayRequest(db, signature.accepted.extra.pay_req_id)
  if (!request)
    throw new ServiceError('pay_req_not_found', 'there is no quote with this pay_req_id', {
      hint: 'repeat the request without PAYMENT-SIGNATURE for a quote',
    })
  requireSameOrder(order, request)
  const { accepts } = JSON.parse(request.quote) as X402Quote
  const leg = signedLeg(accepts, signature)
  const network = networkNamed(leg.network)
  const settler = network && context.settlers.get(network)
  if (!settler) throw cannotSettle()
  const id = settler.paymentId(signature.payload)
  if (id === null) throw unreadable(`holds no payment of the exact scheme on ${leg.network}`)
  return { payment: { request, leg, payload: signature.payload, id, address }, settler }
}

/** The signature pays for its quote: a body that orders something else is refused before paying. */
function requireSameOrder({ units, provider }: X402Order, request: PayRequest): void {
  if (units !== request.units) throw otherOrder('units', request.units)
  if (provider !== undefined && provider !== request.provider) throw otherOrder('provider', request.provider)
}

function otherOrder(field: string, quoted: string | number): ValidationError {
  return new ValidationError({ loc: ['body', field], msg: `the quote that was signed for says ${quoted}` })
}

function bought(receipt: SignedReceipt, idempotent: boolean): Bought {
  const headers = paymentResponse({
    success: true,
    transaction: receipt.tx_hash,
    network: networkNamed(receipt.network)?.caip2 ?? receipt.network,
    payer: receipt.payer_pubkey,
  })
  return new Answer(200, confirmation(receipt, idempotent), headers)
}
