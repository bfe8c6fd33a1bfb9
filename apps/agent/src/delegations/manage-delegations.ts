import type { Delegation, Finding, Run } from '@svc/api/agent/delegations'
import { ServiceError } from '@svc/http-service/service-error'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Context } from '../context.ts'
import type { Db, DelegationRow } from '../db/schema.ts'
import { findSubscription } from '../subscriptions/store.ts'
import { summarizeDeliveries } from '../work/findings/store.ts'
import { findingsAfter, type RunRow, recentRuns } from '../work/runs/store.ts'
import { delegationSummary, isoOrNull, nextStep, webhookSecret } from './delegation-view.ts'
import { findDelegation } from './store.ts'

const RUNS_SHOWN = 20
/** So many that a log of years is read in some dozen requests. */
const FINDINGS_SHOWN = 500

export async function readDelegation(
  context: Context,
  identity: string,
  delegationId: string,
  after: number,
): Promise<Delegation> {
  const { db } = context.database
  const row = await requireOwn(db, identity, delegationId)
  const summary = delegationSummary(context, row, await findSubscription(db, identity))
  const runs = await recentRuns(db, delegationId, RUNS_SHOWN)
  // None of those that came since it was counted how many there are.
  const limit = Math.max(0, Math.min(FINDINGS_SHOWN, row.finding_count - after))
  // Whoever wrote them could write no other kinds.
  const log = (await findingsAfter(db, delegationId, after, limit)) as Finding[]
  const last = log.at(-1)?.sequence
  const told = await summarizeDeliveries(db, delegationId)
  return {
    ...summary,
    ...(row.state === 'pending' && { next_step: nextStep(context, row) }),
    ...webhookSecret(context, row),
    ...(told && { told }),
    runs: runs.map(runView),
    log,
    ...(last !== undefined && last < row.finding_count && { next_after: last }),
  }
}

/** Who asks for another's learns nothing, not even that there is one. */
export async function requireOwn(db: Db, identity: string, delegationId: string): Promise<DelegationRow> {
  const row = await findDelegation(db, delegationId)
  if (row?.identity === identity) return row
  throw new ServiceError('delegation_not_found', 'you have no delegation with this id', {
    hint: 'GET /v1/delegations lists those of the identity that signs',
  })
}

function runView({ task, started_at, finished_at, outcome, summary }: RunRow): Run {
  return {
    task,
    started_at: isoSeconds(started_at),
    finished_at: isoOrNull(finished_at),
    outcome,
    summary: JSON.parse(summary),
  }
}
