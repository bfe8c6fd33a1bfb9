import * as attestations from '@svc/api/attestations'
import * as internal from '@svc/api/internal-attestations'
import { logAnchors } from '@svc/api/log'
import { Answer } from '@svc/service/http/answer'
import { serve, serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import { lockerNotOpen } from '../auth/errors.ts'
import { limitSigner } from '../auth/limits.ts'
import { serveReceipt } from '../auth/serve-signed.ts'
import type { Context } from '../context.ts'
import { attest, isPublishedLater, openLockerOf, publishesEach } from '../evidence/attest.ts'
import { findAttestation } from '../evidence/store.ts'
import { queueAttest } from './attest-job.ts'
import { attestPayment } from './attest-payment.ts'
import { answerCron, cronAttest } from './cron-attest.ts'
import { answerRetry } from './evm-registry/write-entry.ts'
import { listLogAnchors } from './log-anchors/list-anchors.ts'
import { attestAnswer, publishAttested, requireNoRetry } from './publish-attested.ts'
import { answerPush } from './push.ts'

export function publicationRoutes(service: Service, context: Context): void {
  const { auth } = context
  serveReceipt(service, auth, attestations.attest, async ({ caller, query }) => {
    if (!caller.locker) throw lockerNotOpen(caller.receipt)
    await limitSigner(context, caller.signer)
    if (!query.sync) return new Answer(202, await queueAttest(context, caller.locker))
    const publish = publishesEach(context, caller.locker)
    const attested = await attest(context, caller.locker, { publish, isLimited: true })
    return attestAnswer(context, await publishAttested(context, attested, { publish }))
  })

  serveKnown(service, internal.internalAttest, auth.isInternalCaller, async ({ body }) => {
    const { receipt_id, force = false } = body
    const locker = await openLockerOf(context, receipt_id)
    const publish = body.push ?? publishesEach(context, locker)
    const known = force ? await findAttestation(context.database.db, receipt_id) : null
    // A repeated call publishes what the first has made.
    const isRepeated = publish && known !== null && isPublishedLater(known)
    const replacing = isRepeated ? undefined : (known?.sequence ?? undefined)
    const attested = await attest(context, locker, { replacing, publish })
    return attestAnswer(context, requireNoRetry(await publishAttested(context, attested, { publish })))
  })
  serveKnown(service, internal.internalCronAttest, auth.isInternalCaller, async ({ body }) =>
    answerCron(await cronAttest(context, body)),
  )
  serveReceipt(service, auth, attestations.push, ({ caller, body }) => answerPush(context, caller, body.receipt_id))
  serveKnown(service, internal.internalAttestPayment, auth.isInternalCaller, ({ body }) =>
    attestPayment(context, body.receipt_id),
  )
  serve(service, logAnchors, ({ query }) => listLogAnchors(context, query))
  serveKnown(service, internal.internalBridgeRetry, auth.isInternalCaller, ({ body }) => answerRetry(context, body))
}
