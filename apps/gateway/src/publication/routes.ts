import * as attestations from '@svc/api/attestations'
import * as internal from '@svc/api/internal-attestations'
import { logAnchors } from '@svc/api/log'
import { serve, serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { serveReceipt } from '../auth/serve-signed.ts'
import type { Context } from '../context.ts'
import { attestPayment } from './attest-payment.ts'
import { answerRetry } from './evm-registry/write-entry.ts'
import { listLogAnchors } from './log-anchors/list-anchors.ts'
import { answerPush } from './push.ts'

export function anchorRoutes(service: Service, context: Context): void {
  const { auth } = context
  serveReceipt(service, auth, attestations.push, ({ caller, body }) => answerPush(context, caller, body.receipt_id))
  serveKnown(service, internal.internalAttestPayment, auth.isInternalCaller, ({ body }) =>
    attestPayment(context, body.receipt_id),
  )
  serve(service, logAnchors, ({ query }) => listLogAnchors(context, query))
  serveKnown(service, internal.internalBridgeRetry, auth.isInternalCaller, ({ body }) => answerRetry(context, body))
}
