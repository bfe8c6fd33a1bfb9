import { ServiceError } from '@svc/http-service/service-error'
import { isGatewayError } from '@svc/sdk/errors'
import type { Context } from '../context.ts'
import { gatewayUnavailable } from '../gateway/gateway-link.ts'

/** What else is called a receipt is none, and need not be asked for. */
const RECEIPT_ID = /^[\w-]{1,128}$/

/** Somebody waits meanwhile. */
const ANSWER_WITHIN_MS = 10_000

/** Who paid for a receipt, and so owns its locker: as the gateway signed it. */
export async function readPayer({ gateway, log }: Context, receiptId: string): Promise<string> {
  if (!RECEIPT_ID.test(receiptId)) throw receiptNotFound()
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS)
    return (await gateway.client().receipt(receiptId, { signal })).payer_pubkey
  } catch (error) {
    if (isGatewayError(error, 'receipt_not_found')) throw receiptNotFound()
    log.warn({ err: error }, 'the gateway did not say who paid for a receipt')
    throw gatewayUnavailable(error)
  }
}

function receiptNotFound(): ServiceError {
  return new ServiceError('receipt_not_found', 'the gateway has no receipt with this id', {
    hint: 'name a receipt of the gateway that this service works for: see gateway_url in /.well-known/svc-agent.json',
  })
}
