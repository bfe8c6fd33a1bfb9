import * as internalAttestations from '@svc/api/internal-attestations'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { retryEntries } from './bridge/retry-entries.ts'
import { attestPayment } from './payments/attest-payment.ts'

export function internalAnchorRoutes(service: Service, context: Context): void {
  const { isInternalCaller } = context
  serveKnown(service, internalAttestations.internalAttestPayment, isInternalCaller, ({ body }) =>
    attestPayment(context, body.receipt_id),
  )
  serveKnown(service, internalAttestations.internalBridgeRetry, isInternalCaller, ({ body }) =>
    retryEntries(context, body),
  )
}
