import * as internalAttestations from '@svc/api/internal-attestations'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { attestAnswer } from './attest-answer.ts'
import { attestHealth } from './attest-health.ts'
import { attestReceipt } from './attest-receipt.ts'
import { cronAttest } from './cron-attest.ts'

export function internalAttestRoutes(service: Service, context: Context): void {
  const { isInternalCaller } = context
  serveKnown(service, internalAttestations.internalAttest, isInternalCaller, async ({ body }) => {
    const { receipt_id, force = false, push: isPushed = context.config.anchors.isAutomatic } = body
    const attested = await attestReceipt(context, receipt_id, { force, isPushed })
    return attestAnswer(context, attested, { isPushed })
  })
  serveKnown(service, internalAttestations.internalCronAttest, isInternalCaller, ({ body }) =>
    cronAttest(context, body),
  )
  serveKnown(service, internalAttestations.internalAttestHealth, isInternalCaller, () => attestHealth(context))
}
