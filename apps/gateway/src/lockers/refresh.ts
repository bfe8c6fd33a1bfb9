import type { Body } from '@svc/api/endpoint'
import type { LockerRecord, refresh } from '@svc/api/lockers'
import { ServiceError } from '@svc/http-service/service-error'
import { receiptMismatch } from '../auth/callers.ts'
import type { Locker } from '../db/schema.ts'
import { lockerRecord } from './locker-record.ts'

/** What the body names must be what the envelope names (AMB-55). */
export function refreshLocker(locker: Locker, { receipt_id, locker_id }: Body<typeof refresh>): LockerRecord {
  requireSameLocker(locker, { receipt_id, locker_id })
  return lockerRecord(locker)
}

/** Ids in a body that repeat those of the envelope; left out, they are the envelope's. */
export function requireSameLocker(
  locker: Locker,
  named: { receipt_id?: string | undefined; locker_id?: string | undefined },
): void {
  if (named.receipt_id !== undefined && named.receipt_id !== locker.receipt_id) {
    throw receiptMismatch('the envelope is for another receipt than the body')
  }
  if (named.locker_id !== undefined && named.locker_id !== locker.locker_id) {
    throw new ServiceError('LOCKER_ID_MISMATCH', 'the envelope is for another locker than the body', {
      hint: 'sign the locker_id that the request is about',
    })
  }
}
