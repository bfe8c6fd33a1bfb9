// Lists, reads and ends the delegations of an owner.

import type { Delegation, DelegationList, DelegationSummary, Finding, Run } from '@svc/api/agent/delegations'
import { isoSeconds } from '@svc/protocol/evidence'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../context.ts'
import type { Db, DelegationRow } from '../db/schema.ts'
import { subscriptionView } from '../subscriptions/subscription-view.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { findingsAfter, summarizeDeliveries } from '../work/findings/store.ts'
import { type RunRow, recentRuns } from '../work/runs/store.ts'
import { delegationSummary, isoOrNull, nextStep, webhookSecret } from './delegation-view.ts'
import { closeDelegation, delegationsOf, findDelegation } from './store.ts'

/** Listed in addition to all open ones, since an owner may end any number of delegations. */
const MAX_ENDED = 50
const MAX_RUNS = 20
/** Enough to read a log of several years in a few dozen requests. */
const MAX_FINDINGS = 500

export async function listDelegations(
  context: Context,
  subscriptions: Subscriptions,
  identity: string,
): Promise<DelegationList> {
  const { config, database } = context
  const subscription = await subscriptions.find(identity)
  const rows = await delegationsOf(database.db, identity, config.delegations.maxPerIdentity + MAX_ENDED)
  return {
    subscription: subscription && subscriptionView(context, subscription),
    delegations: rows.map((row) => delegationSummary(context, row, subscription)),
  }
}

export async function readDelegation(
  context: Context,
  subscriptions: Subscriptions,
  identity: string,
  delegationId: string,
  after: number,
): Promise<Delegation> {
  const { db } = context.database
  const row = await requireOwn(db, identity, delegationId)
  const summary = delegationSummary(context, row, await subscriptions.find(identity))
  const runs = await recentRuns(db, delegationId, MAX_RUNS)
  // Excludes findings that were added after `finding_count` was read.
  const limit = Math.max(0, Math.min(MAX_FINDINGS, row.finding_count - after))
  // `addFindings` writes no other kinds.
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

/** A delegation that has already ended stays unchanged. */
export async function endDelegation(
  context: Context,
  subscriptions: Subscriptions,
  identity: string,
  delegationId: string,
): Promise<DelegationSummary> {
  const { db, commit } = context.database
  await requireOwn(db, identity, delegationId)
  await commit((tx) => closeDelegation(tx, delegationId, { state: 'ended', at: unixNow(context) }))
  const ended = await requireOwn(db, identity, delegationId)
  return delegationSummary(context, ended, await subscriptions.find(identity))
}

/** Another owner's delegation gets the same answer as one that does not exist. */
async function requireOwn(db: Db, identity: string, delegationId: string): Promise<DelegationRow> {
  const row = await findDelegation(db, delegationId)
  if (row?.identity === identity) return row
  throw new ServiceError('delegation_not_found', 'you have no delegation with this id', {
    hint: 'GET /v1/delegations lists the delegations of the identity that signs',
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
