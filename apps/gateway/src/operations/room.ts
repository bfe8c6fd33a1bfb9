// The operator's room: what the business looks like, and what may be done by hand (ADD-25).

import type { Health } from '@svc/api/info'
import type { AttestHealth } from '@svc/api/internal-attestations'
import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import type { RouteTimes } from '../info/metrics/http.ts'
import { createTotals, type Totals } from './growth.ts'

/** What other rooms know. */
interface Needs {
  checkHealth(): Promise<Health>
  attestHealth(): Promise<AttestHealth>
  routeTimes(): Promise<RouteTimes[]>
  /** Takes direct uploads that have arrived, before a locker takes no more. */
  adoptArrived(locker: Locker): Promise<void>
  /** Writes what this process has counted of bytes that were sent. */
  saveEgress(): Promise<void>
}

export interface OperationsContext extends Context, Needs {
  /** Counted now and then, not at each request. */
  totals: () => Promise<Totals>
}

export function createOperations(context: Context, needs: Needs): OperationsContext {
  return { ...context, ...needs, totals: createTotals(context) }
}
