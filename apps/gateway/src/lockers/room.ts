import type { DownloadUrls, FileEntry } from '@svc/api/file-entries'
import type { LockerMetadata, LockerRecord } from '@svc/api/lockers'
import type { LockerUsage } from '@svc/api/usage'
import type { LockerCaller } from '../auth/callers.ts'
import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'

/** What other rooms know about a locker. */
interface Needs {
  /** The first page of its files. */
  listFiles(locker: Locker): Promise<FileEntry[]>
  /** Download URLs of the first page of its files. */
  mintUrls(caller: LockerCaller, ttlMinutes: number): Promise<DownloadUrls>
  /** Takes direct uploads that have arrived, of one key or of all, before access ends. */
  adoptArrived(locker: Locker, mintedBy: string | null): Promise<void>
  summarizeAttestation(locker: Locker): Promise<LockerMetadata['attestation']>
  nextAnchor(locker: Locker): Promise<Pick<LockerUsage, 'next_anchor' | 'has_unattested_changes'>>
  /** Writes what this process has counted of bytes that were sent. */
  saveEgress(): Promise<void>
  summarizeDeliveries(locker: Locker): Promise<NonNullable<LockerRecord['settling']> | null>
}

export interface LockersContext extends Context, Needs {}

export function createLockers(context: Context, needs: Needs): LockersContext {
  return { ...context, ...needs }
}
