import type { FileEntry } from '@svc/api/file-entries'
import * as lockers from '@svc/api/lockers'
import type { Service } from '@svc/http-service/service'
import { serveLocker, serveReceipt, serveReceiptOrAnybody } from '../auth/serve-signed.ts'
import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { lockerRecord } from './locker-record.ts'
import { lockerMetadata } from './metadata.ts'
import { addOperator, removeOperator } from './operators.ts'
import { provision } from './provision.ts'
import { refreshLocker } from './refresh.ts'

type Settling = NonNullable<lockers.LockerRecord['settling']> | null

/** What other rooms know of a locker. */
export interface LockerContents {
  /** The first of its files. */
  listFiles(locker: Locker): Promise<FileEntry[]>
  summarizeAttestation(locker: Locker): Promise<lockers.LockerMetadata['attestation']>
  summarizeSettling(locker: Locker): Promise<Settling>
}

export function lockerRoutes(
  service: Service,
  context: Context,
  { listFiles, summarizeAttestation, summarizeSettling }: LockerContents,
): void {
  const withSettling = async <Facts>(locker: Locker, facts: Facts) => {
    return { ...facts, settling: await summarizeSettling(locker) }
  }
  serveReceipt(service, context, lockers.signedProvision, ({ caller, body }) =>
    provision(context, caller, body, listFiles),
  )
  serveReceiptOrAnybody(
    service,
    context,
    lockers.provision,
    ({ caller, body }) => provision(context, caller, body, listFiles),
    context.config.lockers.allowPublicProvision,
  )
  serveLocker(service, context, lockers.refresh, ({ caller: { locker }, body }) =>
    withSettling(locker, refreshLocker(locker, body)),
  )
  serveLocker(service, context, lockers.lockerMetadata, async ({ caller: { locker } }) =>
    withSettling(locker, lockerMetadata(locker, await summarizeAttestation(locker))),
  )
  serveLocker(service, context, lockers.lockerRecord, ({ caller: { locker } }) =>
    withSettling(locker, lockerRecord(locker)),
  )
  serveLocker(service, context, lockers.addOperator, ({ caller, body }) =>
    addOperator(context, caller.locker, body.pubkey),
  )
  serveLocker(service, context, lockers.removeOperator, ({ caller, params }) =>
    removeOperator(context, caller.locker, params.pubkey),
  )
}
