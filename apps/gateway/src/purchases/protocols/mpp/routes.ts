import { confirmStorage, requestStorage } from '@svc/api/purchases'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { confirmWithCredential, payWithCredential } from './pay.ts'
import type { MppContext } from './room.ts'

/** A quote and its confirmation: as ever, unless the request carries a payment credential. */
export function mppRoutes(service: Service, context: MppContext): void {
  serve(service, requestStorage, ({ body, wire }) =>
    hasAuthorization(wire) ? payWithCredential(context, body, wire) : context.requestQuote(body, wire),
  )
  serve(service, confirmStorage, ({ body, wire }) =>
    hasAuthorization(wire) ? confirmWithCredential(context, body, wire) : context.confirmPayment(body, wire),
  )
}

function hasAuthorization({ headers }: { headers: { authorization?: string | undefined } }): boolean {
  return headers.authorization !== undefined
}
