import * as attestations from '@svc/api/attestations'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { attestAnswer } from './attest-answer.ts'
import { attestHealth } from './attest-health.ts'
import { attestPayment } from './attest-payment.ts'
import { attestReceipt } from './attest-receipt.ts'
import { cronAttest } from './cron-attest.ts'

export function internalAttestRoutes(service: Service, context: Context): void {
  const { isInternalCaller } = context
  serveKnown(service, attestations.internalAttest, isInternalCaller, async ({ body }) =>
    attestAnswer(context, await attestReceipt(context, body.receipt_id, body)),
  )
  serveKnown(service, attestations.internalAttestPayment, isInternalCaller, ({ body }) =>
    attestPayment(context, body.receipt_id),
  )
  // There is no registry yet to which anything could have failed to be written.
  serveKnown(service, attestations.internalBridgeRetry, isInternalCaller, () => ({
    ok: true,
    attempted: 0,
    succeeded: 0,
    failed: 0,
  }))
  serveKnown(service, attestations.internalCronAttest, isInternalCaller, ({ body }) => cronAttest(context, body))
  serveKnown(service, attestations.internalAttestHealth, isInternalCaller, () => attestHealth(context))
}
