import * as attestations from '@svc/api/attestations'
import { Answer } from '@svc/http-service/answer'
import type { Service } from '@svc/http-service/service'
import { lockerNotFound } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import { serveReceipt } from '../auth/serve-signed.ts'
import type { Context } from '../context.ts'
import { attestAnswer } from './attest-answer.ts'
import { queueAttest } from './queue-attest.ts'

export function attestRoutes(service: Service, context: Context): void {
  serveReceipt(service, context, attestations.attest, async ({ caller, query }) => {
    if (!caller.locker) throw lockerNotFound()
    await limitSigner(context, caller.signer)
    if (query.sync) {
      const { isAutomatic: isPushed } = context.config.anchors
      return attestAnswer(context, await context.attest(caller.locker, { isPushed }), { isPushed })
    }
    return new Answer(202, await queueAttest(context, caller.locker))
  })
}
