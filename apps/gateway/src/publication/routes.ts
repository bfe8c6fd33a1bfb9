import * as attestations from '@svc/api/attestations'
import * as internal from '@svc/api/internal-attestations'
import { logAnchors } from '@svc/api/log'
import { serve, serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import { serveReceipt } from '../auth/serve-signed.ts'
import type { Context } from '../context.ts'
import { attestInternally, attestLocker } from './attest-and-publish.ts'
import { answerCron, cronAttest } from './cron-attest.ts'
import { retryEntries } from './evm-registry/entries.ts'
import { listLogAnchors } from './log-anchors/list-anchors.ts'
import { attestPayment } from './payment-codes.ts'
import { push } from './push.ts'

export function publicationRoutes(service: Service, context: Context): void {
  const { auth } = context
  serveReceipt(service, auth, attestations.attest, ({ caller, query }) => attestLocker(context, caller, query))
  serveReceipt(service, auth, attestations.push, ({ caller, body }) => push(context, caller, body))
  serve(service, logAnchors, ({ query }) => listLogAnchors(context, query))
  serveKnown(service, internal.internalAttest, auth.isInternalCaller, ({ body }) => attestInternally(context, body))
  serveKnown(service, internal.internalCronAttest, auth.isInternalCaller, async ({ body }) =>
    answerCron(await cronAttest(context, body)),
  )
  serveKnown(service, internal.internalAttestPayment, auth.isInternalCaller, ({ body }) =>
    attestPayment(context, body.receipt_id),
  )
  serveKnown(service, internal.internalBridgeRetry, auth.isInternalCaller, ({ body }) => retryEntries(context, body))
}
