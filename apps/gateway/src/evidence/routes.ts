import * as attestations from '@svc/api/attestations'
import * as internal from '@svc/api/internal-attestations'
import { Answer } from '@svc/http-service/answer'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { lockerNotOpen } from '../auth/errors.ts'
import { limitSigner } from '../auth/limits.ts'
import { serveReceipt } from '../auth/serve-signed.ts'
import type { Context } from '../context.ts'
import { isPublishedLater, openLockerOf, publishAttested, publishesEach, requireNoRetry } from './attest.ts'
import { queueAttest } from './attest-job.ts'
import { answerCron, cronAttest } from './cron-attest.ts'
import { findAttestation } from './store.ts'
import { attestAnswer } from './view.ts'

export function attestationRoutes(service: Service, context: Context): void {
  const { auth } = context
  serveReceipt(service, auth, attestations.attest, async ({ caller, query }) => {
    if (!caller.locker) throw lockerNotOpen(caller.receipt)
    await limitSigner(context, caller.signer)
    if (!query.sync) return new Answer(202, await queueAttest(context, caller.locker))
    const publish = publishesEach(context, caller.locker)
    const attested = await context.attest(caller.locker, { publish, isLimited: true })
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
    const attested = await context.attest(locker, { replacing, publish })
    return attestAnswer(context, requireNoRetry(await publishAttested(context, attested, { publish })))
  })
  serveKnown(service, internal.internalCronAttest, auth.isInternalCaller, async ({ body }) =>
    answerCron(await cronAttest(context, body)),
  )
}
