import * as attestations from '@svc/api/attestations'
import * as internal from '@svc/api/internal-attestations'
import { Answer } from '@svc/http-service/answer'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { lockerNotOpen } from '../auth/errors.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Auth } from '../auth/room.ts'
import { serveReceipt } from '../auth/serve-signed.ts'
import { attestReceipt, publishAttested } from './attest.ts'
import { queueAttest } from './attest-job.ts'
import { cronAttest, requireNoRetry } from './cron-attest.ts'
import { attestHealth } from './health.ts'
import type { AttestationsContext } from './room.ts'
import { attestAnswer } from './view.ts'

export function attestationRoutes(service: Service, auth: Auth, context: AttestationsContext): void {
  const { isAutomatic } = context.config.anchors
  serveReceipt(service, auth, attestations.attest, async ({ caller, query }) => {
    if (!caller.locker) throw lockerNotOpen(caller.receipt)
    await limitSigner(context, caller.signer)
    if (!query.sync) return new Answer(202, await queueAttest(context, caller.locker))
    const attested = await context.attest(caller.locker, { publish: isAutomatic })
    return attestAnswer(context, await publishAttested(context, attested, { publish: isAutomatic }))
  })

  serveKnown(service, internal.internalAttest, auth.isInternalCaller, async ({ body }) => {
    const { receipt_id, force = false, push: publish = isAutomatic } = body
    const attested = await attestReceipt(context, receipt_id, { force, publish })
    return attestAnswer(context, await publishAttested(context, attested, { publish }))
  })
  serveKnown(service, internal.internalCronAttest, auth.isInternalCaller, async ({ body }) =>
    requireNoRetry(await cronAttest(context, body)),
  )
  serveKnown(service, internal.internalAttestHealth, auth.isInternalCaller, () => attestHealth(context))
}
