// The record of a locker and its metadata.

import type { LockerMetadata, LockerRecord } from '@svc/api/lockers'
import { networkNamed } from '@svc/api/networks'
import type { Provider } from '@svc/api/providers'
import { ServiceError } from '@svc/service/service-error'
import { receiptMismatch } from '../auth/callers.ts'
import { restrictionOf } from '../auth/restrictions.ts'
import type { Locker } from '../db/schema.ts'
import { publicLinkOf } from './public-link.ts'

/** The record, from the locker's own row. */
export function lockerRecord(locker: Locker): LockerRecord {
  const { locker_id, receipt_id, owner, network, provider, created_at, expires_at } = locker
  const sig_alg = networkNamed(network)?.sigAlg
  if (!sig_alg) throw new Error(`locker ${locker_id} is on the unknown network ${network}`)
  const restriction = restrictionOf(locker)
  return {
    locker_id,
    receipt_id,
    owner,
    operators: JSON.parse(locker.operators),
    tags: JSON.parse(locker.tags),
    provider: provider as Provider, // from the quote
    network,
    sig_alg,
    terms: JSON.parse(locker.terms),
    created_at,
    expires_at,
    file_count: locker.file_count,
    total_bytes: locker.total_bytes,
    public_link: publicLinkOf(locker),
    anchoring: locker.anchoring,
    ...(restriction && { restriction }),
    space: { locker_id, file_api: fileApi(locker_id) },
  }
}

export function lockerMetadata(locker: Locker, attestation: LockerMetadata['attestation']): LockerMetadata {
  const { space: _, ...facts } = lockerRecord(locker)
  return { ...facts, attestation, last_manifest_change_at: locker.manifest_changed_at }
}

/** Ids in a body must repeat those of the envelope; the body may omit them. */
export function requireSameLocker(
  locker: Locker,
  named: { receipt_id?: string | undefined; locker_id?: string | undefined },
): void {
  if (named.receipt_id !== undefined && named.receipt_id !== locker.receipt_id) {
    throw receiptMismatch('the envelope names a different receipt than the body')
  }
  if (named.locker_id !== undefined && named.locker_id !== locker.locker_id) {
    throw new ServiceError('LOCKER_ID_MISMATCH', 'the envelope names a different locker than the body', {
      hint: 'sign the locker_id of the request',
    })
  }
}

/** Paths under the base URL (LOCK-03). */
function fileApi(lockerId: string) {
  const files = `/v1/lockers/${lockerId}/files`
  const file = `${files}/{filename}`
  return { create: files, list: files, get: file, delete: file }
}
