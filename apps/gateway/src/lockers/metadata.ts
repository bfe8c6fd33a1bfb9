import type { LockerMetadata } from '@svc/api/lockers'
import type { Locker } from '../db/schema.ts'
import { lockerRecord } from './locker-record.ts'

export function lockerMetadata(locker: Locker, attestation: LockerMetadata['attestation']): LockerMetadata {
  const { space: _, ...facts } = lockerRecord(locker)
  return { ...facts, attestation, last_manifest_change_at: locker.manifest_changed_at }
}
