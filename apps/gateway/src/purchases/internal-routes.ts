import * as internal from '@svc/api/internal'
import { serveKnown } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { findByTransaction } from './find-by-transaction.ts'
import { summarizeTreasury } from './treasury-summary.ts'

export function internalRoutes(service: Service, context: Context): void {
  const { isInternalCaller } = context
  serveKnown(service, internal.treasurySummary, isInternalCaller, () => summarizeTreasury(context))
  serveKnown(service, internal.findReceipts, isInternalCaller, ({ query }) => findByTransaction(context, query.tx))
}
