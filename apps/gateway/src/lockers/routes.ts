import * as internal from '@svc/api/internal'
import * as lockers from '@svc/api/lockers'
import * as usage from '@svc/api/usage'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Auth } from '../auth/room.ts'
import { serveLocker, serveReceipt, serveReceiptOrAnybody, serveWallet } from '../auth/serve-signed.ts'
import type { Locker } from '../db/schema.ts'
import { changeAnchoring } from './anchoring.ts'
import { listLockers } from './list-lockers.ts'
import { lockerMetadata, lockerRecord, refreshLocker } from './locker-record.ts'
import { addOperator, removeOperator } from './operators.ts'
import { provision } from './provision.ts'
import { changePublicLink } from './public-link.ts'
import { revokeAccess } from './revoke-access.ts'
import type { LockersContext } from './room.ts'
import { listOverTerms, readUsage } from './usage.ts'

export function lockerRoutes(service: Service, auth: Auth, context: LockersContext): void {
  const withSettling = async <Facts>(locker: Locker, facts: Facts) => {
    await context.continuity.requireWritten({ kind: 'locker', key: locker.locker_id })
    return { ...facts, settling: await context.summarizeDeliveries(locker) }
  }
  serveReceipt(service, auth, lockers.signedProvision, ({ caller, body }) => provision(context, caller, body))
  serveReceiptOrAnybody(
    service,
    auth,
    lockers.provision,
    ({ caller, body }) => provision(context, caller, body),
    context.config.lockers.allowPublicProvision,
  )
  serveWallet(service, auth, lockers.listLockers, ({ caller, query }) => listLockers(context, caller, query))
  serveLocker(service, auth, lockers.refresh, async ({ caller, body }) =>
    withSettling(caller.locker, await refreshLocker(context, caller, body)),
  )
  serveLocker(service, auth, lockers.lockerMetadata, async ({ caller: { locker } }) =>
    withSettling(locker, lockerMetadata(locker, await context.summarizeAttestation(locker))),
  )
  serveLocker(service, auth, lockers.lockerRecord, ({ caller: { locker } }) =>
    withSettling(locker, lockerRecord(locker)),
  )
  serveLocker(service, auth, usage.lockerUsage, ({ caller: { locker } }) => readUsage(context, locker))
  serveKnown(service, internal.lockersOverTerms, auth.isInternalCaller, ({ query }) => listOverTerms(context, query))
  serveLocker(service, auth, lockers.addOperator, ({ caller, body }) =>
    addOperator(context, caller.locker, body.pubkey),
  )
  serveLocker(service, auth, lockers.removeOperator, ({ caller, params }) =>
    removeOperator(context, caller.locker, params.pubkey),
  )
  serveLocker(service, auth, lockers.revokeAccess, ({ caller }) => revokeAccess(context, caller.locker))
  serveLocker(service, auth, lockers.changePublicLink, ({ caller, body }) =>
    changePublicLink(context, caller.locker, body),
  )
  serveLocker(service, auth, lockers.changeAnchoring, ({ caller, body }) =>
    changeAnchoring(context, caller.locker, body),
  )
}
