// Stock x402 clients that come to the plain quote with a signature (ADD-21).

import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Config } from '../config.ts'
import type { Order } from './prices.ts'
import { x402UrlOf } from './quote.ts'
import { isRenewal } from './renewal.ts'

/** The quote of this endpoint is paid with a transaction. The refusal names the endpoint where a signature is enough. */
export function refuseSignedPayment(config: Config, order: Order, { headers }: Pick<WireRequest, 'headers'>): void {
  const name = ['PAYMENT-SIGNATURE', 'X-PAYMENT'].find((header) => headers[header.toLowerCase()] !== undefined)
  if (name === undefined) return
  const isOnChainOnly = isRenewal(order)
  const x402Url = isOnChainOnly ? null : x402UrlOf(config)
  const why = isOnChainOnly ? 'a renewal is paid on chain' : 'this gateway sends no signed payments'
  throw new ServiceError('signed_payment_not_taken', `${name} pays nothing here; nothing was sent or changed`, {
    hint:
      x402Url === null
        ? `${why}: ${PAY_YOURSELF}`
        : `send the same body to POST ${x402Url}: x402 version 2 clients buy there`,
    ...(x402Url !== null && { details: { x402_url: x402Url } }),
  })
}

const PAY_YOURSELF = 'pay an entry of accepts yourself, then confirm with POST /v1/storage/confirm'
