import * as attestations from '@svc/api/attestations'
import * as internal from '@svc/api/internal-attestations'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { ServiceError } from '@svc/http-service/service-error'
import { findAttestation } from '../attestations/store.ts'
import { receiptMismatch } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Auth } from '../auth/room.ts'
import { serveReceipt } from '../auth/serve-signed.ts'
import { retryEntries } from './evm-registry/retry-entries.ts'
import { attestPayment } from './payments/attest-payment.ts'
import type { AnchorsContext } from './room.ts'

export function anchorRoutes(service: Service, auth: Auth, context: AnchorsContext): void {
  serveReceipt(
    service,
    auth,
    attestations.push,
    async ({ caller, body: { receipt_id } }): Promise<attestations.PushAnswer> => {
      if (receipt_id !== caller.receipt.receipt_id) {
        throw receiptMismatch('the envelope is for another receipt than the body')
      }
      await limitSigner(context, caller.signer)
      const result = await context.push(receipt_id)
      if (result.status === 'failed') throw anchorFailed(result)
      const current = await findAttestation(context.database.db, receipt_id)
      const attestation_status = current?.status === 'complete' ? 'complete' : 'computed'
      return { ok: true, receipt_id, ...result, attestation_status }
    },
  )

  serveKnown(service, internal.internalAttestPayment, auth.isInternalCaller, ({ body }) =>
    attestPayment(context, body.receipt_id),
  )
  serveKnown(service, internal.internalBridgeRetry, auth.isInternalCaller, ({ body }) => retryEntries(context, body))
}

function anchorFailed({ error, reason }: attestations.PushResult): ServiceError {
  const hint = error?.ambiguous
    ? 'the transaction may still land: repeat the push, it looks for it first and pays for nothing twice'
    : error?.retryable
      ? 'the statement is kept: repeat the push later'
      : 'the statement is kept; the operator of this gateway has to look at its registry'
  return new ServiceError('anchor_failed', `the statement could not be published: ${reason}`, {
    hint,
    details: { ...error },
  })
}
