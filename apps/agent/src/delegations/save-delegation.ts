import { DEFAULT_TASKS, type Tasks } from '@svc/api/agent/tasks'
import { toHex } from '@svc/protocol/bytes'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../context.ts'
import type { DelegationRow, SubscriptionRow, Tx } from '../db/schema.ts'
import { lockSubscription } from '../subscriptions/store.ts'
import { recentRuns } from '../work/runs/store.ts'
import { dueAfterChange } from './due-times.ts'
import {
  countCreatedSince,
  countOpenDelegations,
  insertDelegation,
  lockOpenDelegation,
  setNextCheck,
  setTasks,
} from './store.ts'

/** When the job that runs every minute checks, in case the immediate check is lost. */
const CHECK_AGAIN_SECONDS = 60

/** Per open delegation that is allowed: no client needs to recreate them more often. */
const CREATED_PER_DAY = 5
const DAY = 86_400

/** Two tasks that each run at most once an hour, with a margin. */
const RUNS_PER_HOUR = 10
const NOT_DUE = { mirror_at: null, watch_at: null }

export interface DelegationOrder {
  receipt_id: string
  locker_id: string
  /** Null leaves them unchanged. */
  tasks: Tasks | null
  /** The owner's subscription. */
  subscription: SubscriptionRow
}

/**
 * Inserts the delegation of a receipt, or changes the open one, and schedules an immediate check of its key. The
 * owner's subscription is locked, so that concurrent requests cannot exceed the limits.
 */
export async function saveDelegation(context: Context, order: DelegationOrder): Promise<DelegationRow> {
  const { identity, subscription_id } = order.subscription
  return context.database.commit(async (tx) => {
    await lockSubscription(tx, identity, subscription_id)
    const existing = await lockOpenDelegation(tx, order.receipt_id)
    const delegation = existing ? await update(context, tx, existing, order.tasks) : await insert(context, tx, order)
    const { delegation_id, state } = delegation
    // A separate key: otherwise this check would be merged with one that waits for a later time.
    const options = { key: `${delegation_id} at once` }
    if (state === 'pending') await context.queue.enqueue(tx, 'check-registration', { delegation_id }, options)
    return delegation
  })
}

async function insert(context: Context, tx: Tx, order: DelegationOrder): Promise<DelegationRow> {
  const { identity } = order.subscription
  const { maxPerIdentity } = context.config.delegations
  if ((await countOpenDelegations(tx, identity)) >= maxPerIdentity) throw tooMany(maxPerIdentity)
  const now = unixNow(context)
  const maxCreated = maxPerIdentity * CREATED_PER_DAY
  if ((await countCreatedSince(tx, identity, now - DAY)) >= maxCreated) throw tooOften(maxCreated)
  const delegation: DelegationRow = {
    delegation_id: `dlg_${toHex(context.randomBytes(16))}`,
    identity,
    receipt_id: order.receipt_id,
    locker_id: order.locker_id,
    state: 'pending',
    tasks: JSON.stringify(order.tasks ?? DEFAULT_TASKS),
    created_at: now,
    registered_at: null,
    ended_at: null,
    check_at: now + CHECK_AGAIN_SECONDS,
    checks: 0,
    mirror_at: null,
    watch_at: null,
    finding_count: 0,
    alert_count: 0,
    last_digest: null,
  }
  await insertDelegation(tx, delegation)
  return delegation
}

async function update(context: Context, tx: Tx, existing: DelegationRow, tasks: Tasks | null): Promise<DelegationRow> {
  const { delegation_id } = existing
  const now = unixNow(context)
  if (existing.state === 'pending')
    await setNextCheck(tx, delegation_id, { check_at: now + CHECK_AGAIN_SECONDS, checks: 0 })
  if (!tasks) return existing
  const runs = await recentRuns(tx, delegation_id, RUNS_PER_HOUR)
  const due = existing.state === 'active' ? dueAfterChange({ before: existing, after: tasks, runs, now }) : NOT_DUE
  await setTasks(tx, delegation_id, tasks, due)
  return { ...existing, tasks: JSON.stringify(tasks), ...due }
}

function tooMany(limit: number): ServiceError {
  return new ServiceError('DELEGATION_LIMIT_EXCEEDED', `a subscriber may delegate at most ${limit} lockers`, {
    hint: 'end a delegation first: DELETE /v1/delegations/{delegation_id}',
    details: { limit },
  })
}

function tooOften(limit: number): ServiceError {
  return new ServiceError('DELEGATION_LIMIT_EXCEEDED', `a subscriber may create at most ${limit} delegations per day`, {
    hint: 'keep the existing delegations: delegating a locker again changes its tasks',
    details: { limit },
  })
}
