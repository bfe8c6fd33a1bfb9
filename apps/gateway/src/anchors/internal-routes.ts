import * as attestations from '@svc/api/attestations'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { retryEntries } from './bridge/retry-entries.ts'
import { attestPayment } from './payments/attest-payment.ts'

export function internalAnchorRoutes(service: Service, context: Context): void {
  const { isInternalCaller } = context
  serveKnown(service, attestations.internalAttestPayment, isInternalCaller, ({ body }) =>
    attestPayment(context, body.receipt_id),
  )
  serveKnown(service, attestations.internalBridgeRetry, isInternalCaller, ({ body }) => retryEntries(context, body))
}
