import * as operations from '@svc/api/operations'
import { serveKnown } from '@svc/service/http/serve'
import type { Service } from '@svc/service/http/service'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Context } from '../../context.ts'
import { listAccepted } from './accepted-payments.ts'
import { describeCaller, requireActor } from './actors.ts'
import { type AuditAction, readAuditLog } from './audit.ts'
import { exportReceipts, exportTreasury } from './exports.ts'
import { findLockers, readLocker } from './find-lockers.ts'
import { readGrowth } from './growth.ts'
import { deleteJob, listJobs, readJob, retryJob } from './jobs.ts'
import { readOverview } from './overview.ts'
import { attachPayment, lookUpPayment, refundPayment } from './payments.ts'
import { restrictLocker } from './restrict-locker.ts'
import { readSales } from './sales.ts'
import { slowRoutes } from './slow-routes.ts'
import { listUnclaimed } from './unclaimed-payments.ts'

export function operationRoutes(service: Service, context: Context): void {
  const { isInternalCaller } = context.auth
  const { actors } = context.config.internal
  serveKnown(service, operations.adminIdentity, isInternalCaller, ({ caller }) => describeCaller(caller, actors))
  serveKnown(service, operations.adminOverview, isInternalCaller, () => readOverview(context))
  serveKnown(service, operations.adminSales, isInternalCaller, ({ query }) => readSales(context, query))
  serveKnown(service, operations.adminGrowth, isInternalCaller, ({ query }) => readGrowth(context, query))
  serveKnown(service, operations.treasuryStatement, isInternalCaller, ({ query }) => exportTreasury(context, query))
  serveKnown(service, operations.exportReceipts, isInternalCaller, ({ query }) => exportReceipts(context, query))
  serveKnown(service, operations.adminJobs, isInternalCaller, ({ query }) => listJobs(context, query))
  serveKnown(service, operations.adminJob, isInternalCaller, ({ params }) => readJob(context, params.job_id))
  serveKnown(service, operations.slowRoutes, isInternalCaller, ({ query }) => slowRoutes(context, query.limit))
  serveKnown(service, operations.findLockers, isInternalCaller, ({ query }) => findLockers(context, query))
  serveKnown(service, operations.adminLocker, isInternalCaller, ({ params }) => readLocker(context, params.locker_id))
  serveKnown(service, operations.adminPayment, isInternalCaller, ({ query }) => lookUpPayment(context, query))
  serveKnown(service, operations.acceptedPayments, isInternalCaller, ({ query }) => listAccepted(context, query))
  serveKnown(service, operations.unclaimedPayments, isInternalCaller, ({ query }) => listUnclaimed(context, query))
  serveKnown(service, operations.auditLog, isInternalCaller, ({ query }) => readAuditLog(context, query))

  /** Refuses a caller without permission before the body is read. */
  const acting =
    <Params>(action: AuditAction, targetOf: (params: Params) => string) =>
    async (wire: WireRequest, { params }: { params: Params }) =>
      requireActor(context, await isInternalCaller(wire), { action, target: targetOf(params) })
  const ofJob = ({ job_id }: { job_id: string }) => job_id
  const ofLocker = ({ locker_id }: { locker_id: string }) => locker_id
  const unread = () => ''

  serveKnown(service, operations.retryJob, acting('retry_job', ofJob), ({ caller, params, body }) =>
    retryJob(context, caller, params.job_id, body.reason),
  )
  serveKnown(service, operations.deleteJob, acting('delete_job', ofJob), ({ caller, params, body }) =>
    deleteJob(context, caller, params.job_id, body.reason),
  )
  serveKnown(service, operations.restrictLocker, acting('restrict_locker', ofLocker), ({ caller, params, body }) =>
    restrictLocker(context, caller, params.locker_id, body),
  )
  serveKnown(service, operations.attachPayment, acting('attach_payment', unread), ({ caller, body }) =>
    attachPayment(context, caller, body),
  )
  serveKnown(service, operations.refundPayment, acting('refund_payment', unread), ({ caller, body }) =>
    refundPayment(context, caller, body),
  )
}
