import { listAccess as accessEndpoint } from '@svc/api/access'
import * as internal from '@svc/api/internal'
import * as lockers from '@svc/api/lockers'
import * as usage from '@svc/api/usage'
import { serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import { serveLocker, serveReceipt, serveReceiptOrAnybody, serveWallet } from '../../auth/serve-signed.ts'
import type { Context } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import { attestationSummary } from '../../evidence/view.ts'
import { summarizeDeliveries } from '../../files/delivery/schedule.ts'
import { adoptArrived } from '../../files/direct-uploads.ts'
import { changeAnchoring } from '../../lockers/anchoring.ts'
import { listLockers } from '../../lockers/list-lockers.ts'
import { lockerMetadata, lockerRecord } from '../../lockers/locker-record.ts'
import { addOperator, removeOperator } from '../../lockers/operators.ts'
import { changePublicLink } from '../../lockers/public-link.ts'
import { renameLocker } from '../../lockers/rename-locker.ts'
import { listAccess } from './list-access.ts'
import { provision } from './provision.ts'
import { refreshLocker } from './refresh-locker.ts'
import { revokeAccess } from './revoke-access.ts'
import { listOverTerms, readUsage } from './usage.ts'

export function lockerRoutes(service: Service, context: Context): void {
  const { auth } = context
  const withSettling = async <Facts>(locker: Locker, facts: Facts) => {
    await context.continuity.requireWritten({ kind: 'locker', key: locker.locker_id })
    return { ...facts, settling: await summarizeDeliveries(context, locker) }
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
    withSettling(locker, lockerMetadata(locker, await attestationSummary(context.database.db, locker.receipt_id))),
  )
  serveLocker(service, auth, lockers.lockerRecord, ({ caller: { locker } }) =>
    withSettling(locker, lockerRecord(locker)),
  )
  serveLocker(service, auth, usage.lockerUsage, ({ caller: { locker } }) => readUsage(context, locker))
  serveKnown(service, internal.lockersOverTerms, auth.isInternalCaller, ({ query }) => listOverTerms(context, query))
  serveLocker(service, auth, lockers.addOperator, ({ caller, body }) =>
    addOperator(context, caller.locker, body.pubkey),
  )
  serveLocker(service, auth, lockers.removeOperator, async ({ caller: { locker }, params: { pubkey } }) => {
    // Adopts uploads that the key has sent straight to a provider: they arrived before its access ended.
    await adoptArrived(context, locker, pubkey)
    return removeOperator(context, locker, pubkey)
  })
  serveLocker(service, auth, accessEndpoint, ({ caller: { locker } }) => listAccess(context, locker))
  serveLocker(service, auth, lockers.revokeAccess, ({ caller }) => revokeAccess(context, caller.locker))
  serveLocker(service, auth, lockers.changePublicLink, ({ caller, body }) =>
    changePublicLink(context, caller.locker, body),
  )
  serveLocker(service, auth, lockers.renameLocker, ({ caller, body }) => renameLocker(context, caller.locker, body))
  serveLocker(service, auth, lockers.changeAnchoring, ({ caller, body }) =>
    changeAnchoring(context, caller.locker, body),
  )
}
