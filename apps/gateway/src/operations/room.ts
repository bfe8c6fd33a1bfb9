// The operator's room: what the business looks like, and what may be done by hand (ADD-25).

import type { Health } from '@svc/api/info'
import type { AttestHealth } from '@svc/api/internal-attestations'
import type { SolanaNodes } from '@svc/payments/solana/nodes'
import type { NoteKey } from '@svc/transparency/note'
import type { Publishing } from '../attestations/publishing.ts'
import type { Context } from '../context.ts'
import type { Publications } from '../continuity/gaps.ts'
import type { Locker, Tx } from '../db/schema.ts'
import type { RouteTimes } from '../info/metrics/http.ts'
import type { PublishedLog } from '../log/published.ts'
import { createChainFollower, type FollowChain } from './audit.ts'
import { createTotals, type Totals } from './growth.ts'

/** What other rooms know. */
interface Needs extends Pick<Publishing, 'queueEntry'> {
  checkHealth(): Promise<Health>
  attestHealth(): Promise<AttestHealth>
  routeTimes(): Promise<RouteTimes[]>
  /** Takes direct uploads that have arrived, before a locker takes no more. */
  adoptArrived(locker: Locker): Promise<void>
  /** Where this gateway's anchors are; null where nothing is published. */
  publications: (Publications & { nodes: SolanaNodes }) | null
  /** Lets a locker's uploads go on where a restriction has stopped them for so long. */
  continueSessions(tx: Tx, lockerId: string, seconds: number): Promise<void>
  logKey: NoteKey
  publishedLog: PublishedLog
  /** Writes what this process has counted of bytes that were sent. */
  saveEgress(): Promise<void>
}

export interface OperationsContext extends Context, Needs {
  /** Counted now and then, not at each request. */
  totals: () => Promise<Totals>
  followChain: FollowChain
}

export function createOperations(context: Context, needs: Needs): OperationsContext {
  return { ...context, ...needs, totals: createTotals(context), followChain: createChainFollower(context) }
}
