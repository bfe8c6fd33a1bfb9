// Purchases that the client pays for: the server returns an x402 offer and accepts the client's signed payment.

import { Quote } from '@svc/api/purchases'
import { buyStorage, type X402Purchase, type X402Quote } from '@svc/api/x402'
import { isGatewayError } from '@svc/sdk/errors'
import Type from 'typebox'
import type { Context } from '../context.ts'
import { PaymentRequired, Refusal } from '../errors.ts'
import { paidData, paidText } from '../money/paid.ts'
import type { Call, Outcome } from './tool.ts'

export const Offer = Type.Object(
  { x402Version: Quote.properties.x402Version, accepts: Type.Array(Type.Object({}, { additionalProperties: true })) },
  { additionalProperties: true, description: 'An x402 offer: nothing was paid.' },
)

type Order = Pick<Parameters<Context['client']['quote']>[0], 'units' | 'provider'>

/** Names from the x402 transport for MCP. */
export const PAYMENT = 'x402/payment'
const SETTLEMENT = 'x402/payment-response'

export async function buyForClient(context: Context, input: Order, call: Call): Promise<Outcome<object>> {
  const order = { units: input.units, ...(input.provider && { provider: input.provider }) }
  const payment = call.meta[PAYMENT]
  if (payment === undefined) throw new PaymentRequired(await offerOf(context, order, call.signal))
  if (typeof payment !== 'object') throw new Refusal('bad_arguments', `_meta["${PAYMENT}"] must be an object`)
  const headers = { 'payment-signature': Buffer.from(JSON.stringify(payment)).toString('base64') }
  const answer = await context.client.call(buyStorage, { body: order, headers, signal: call.signal })
  if (answer.status === 402) throw new PaymentRequired(answer.body)
  return { ...boughtBy(answer.body), meta: { [SETTLEMENT]: settlement(answer.headers) } }
}

/** An offer that stock x402 clients can sign, or a quote to pay on chain if the gateway does not support that. */
async function offerOf({ client }: Context, order: Order, signal: AbortSignal): Promise<Quote | X402Quote> {
  try {
    const { status, body } = await client.call(buyStorage, { body: order, signal })
    if (status === 402) return body
    throw new Refusal('unexpected_answer', 'the gateway sells without a payment')
  } catch (error) {
    if (!isGatewayError(error, 'not_found', 'leg_not_in_quote')) throw error
    return client.quote(order, { signal })
  }
}

function settlement(headers: Headers): unknown {
  const text = headers.get('payment-response')
  return text === null ? null : JSON.parse(Buffer.from(text, 'base64').toString())
}

function boughtBy({ receipt, receipt_id, idempotent, ...answer }: X402Purchase): Outcome<object> {
  const { payer_pubkey: payer } = receipt
  // Gateways of earlier releases let the payer open the locker.
  const { locker_id = null }: Partial<X402Purchase> = answer
  const locker =
    locker_id === null
      ? `the locker belongs to ${payer}, who opens it with a signed request`
      : `locker ${locker_id} is open and belongs to ${payer}, who signs the requests for it`
  return {
    text: `${paidText(receipt, !idempotent)} Receipt ${receipt_id}; ${locker}.`,
    data: { intent: null, locker_id, ...paidData(receipt, !idempotent) },
  }
}
