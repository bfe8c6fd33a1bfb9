import { DEFAULT_TASKS, type Tasks } from '@svc/api/agent/tasks'
import { toHex } from '@svc/protocol/bytes'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../context.ts'
import type { DelegationRow, SubscriptionRow, Tx } from '../db/schema.ts'
import { lockSubscription } from '../subscriptions/store.ts'
import { recentRuns } from '../work/runs/store.ts'
import { dueAfterChange } from './due-times.ts'
import {
  countMadeSince,
  countOpenDelegations,
  insertDelegation,
  lockOpenDelegation,
  setNextCheck,
  setTasks,
} from './store.ts'

/** When the job that runs every minute checks, in case the immediate check is lost. */
const CHECK_AGAIN_SECONDS = 60

/** Per open delegation allowed: nobody needs to end and remake them more often. */
const MADE_PER_DAY = 5
const DAY = 86_400

/** Two tasks that each run at most once an hour, with a margin. */
const RUNS_PER_HOUR = 10
const NOT_DUE = { mirror_at: null, watch_at: null }

export interface DelegationOrder {
  receipt_id: string
  locker_id: string
  /** Null leaves them as they are. */
  tasks: Tasks | null
  /** The owner's. */
  subscription: SubscriptionRow
}

/**
 * Inserts the delegation of a receipt, or changes the open one, and has its key checked at once. The owner's
 * subscription is locked, so that concurrent requests cannot exceed the limits.
 */
export async function saveDelegation(context: Context, order: DelegationOrder): Promise<DelegationRow> {
  const { identity, subscription_id } = order.subscription
  return context.database.commit(async (tx) => {
    await lockSubscription(tx, identity, subscription_id)
    const known = await lockOpenDelegation(tx, order.receipt_id)
    const delegation = known ? await update(context, tx, known, order.tasks) : await insert(context, tx, order)
    const { delegation_id, state } = delegation
    // Its own key: otherwise a check that waits for a later time would take its place.
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
  const maxMade = maxPerIdentity * MADE_PER_DAY
  if ((await countMadeSince(tx, identity, now - DAY)) >= maxMade) throw tooOften(maxMade)
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

async function update(context: Context, tx: Tx, known: DelegationRow, tasks: Tasks | null): Promise<DelegationRow> {
  const { delegation_id } = known
  const now = unixNow(context)
  if (known.state === 'pending')
    await setNextCheck(tx, delegation_id, { check_at: now + CHECK_AGAIN_SECONDS, checks: 0 })
  if (!tasks) return known
  const runs = await recentRuns(tx, delegation_id, RUNS_PER_HOUR)
  const due = known.state === 'active' ? dueAfterChange({ before: known, after: tasks, runs, now }) : NOT_DUE
  await setTasks(tx, delegation_id, tasks, due)
  return { ...known, tasks: JSON.stringify(tasks), ...due }
}

function tooMany(limit: number): ServiceError {
  return new ServiceError('DELEGATION_LIMIT_EXCEEDED', `one may delegate ${limit} lockers at a time`, {
    hint: 'end a delegation first: DELETE /v1/delegations/{delegation_id}',
    details: { limit },
  })
}

function tooOften(limit: number): ServiceError {
  return new ServiceError('DELEGATION_LIMIT_EXCEEDED', `one may make ${limit} delegations in a day`, {
    hint: 'keep those you have: to delegate a locker again changes its tasks',
    details: { limit },
  })
}
