import { DEFAULT_TASKS, type Tasks } from '@svc/api/agent/tasks'
import { ServiceError } from '@svc/http-service/service-error'
import { toHex } from '@svc/protocol/bytes'
import { type Context, unixNow } from '../context.ts'
import type { Db, DelegationRow, SubscriptionRow } from '../db/schema.ts'
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

/** By the clock, should the job that looks at once have nothing to say. */
const CHECK_AGAIN_SECONDS = 60

export interface Order {
  receipt_id: string
  locker_id: string
  /** Null to leave them as they are. */
  tasks: Tasks | null
  /** Of the owner. */
  subscription: SubscriptionRow
}

/**
 * The delegation of a receipt, made now or found and changed; its key is looked for at the gateway right away. Those
 * of one owner are made one after the other: his subscription is locked.
 */
export async function keepDelegation(context: Context, order: Order): Promise<DelegationRow> {
  const { identity, subscription_id } = order.subscription
  return context.database.db.transaction().execute(async (tx) => {
    await lockSubscription(tx, identity, subscription_id)
    const known = await lockOpenDelegation(tx, order.receipt_id)
    const delegation = known ? await change(context, tx, known, order.tasks) : await make(context, tx, order)
    const { delegation_id, state } = delegation
    // A key of its own: one that waits for a later time would else stand for it.
    const options = { key: `${delegation_id} at once` }
    if (state === 'pending') await context.queue.enqueue(tx, 'check-registration', { delegation_id }, options)
    return delegation
  })
}

async function make(context: Context, db: Db, order: Order): Promise<DelegationRow> {
  const { identity } = order.subscription
  const { maxPerIdentity } = context.config.delegations
  if ((await countOpenDelegations(db, identity)) >= maxPerIdentity) throw tooMany(maxPerIdentity)
  const now = unixNow(context)
  const maxMade = maxPerIdentity * MADE_A_DAY
  if ((await countMadeSince(db, identity, now - DAY)) >= maxMade) throw tooOften(maxMade)
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
  await insertDelegation(db, delegation)
  return delegation
}

async function change(context: Context, db: Db, known: DelegationRow, tasks: Tasks | null): Promise<DelegationRow> {
  const { delegation_id } = known
  const now = unixNow(context)
  if (known.state === 'pending')
    await setNextCheck(db, delegation_id, { check_at: now + CHECK_AGAIN_SECONDS, checks: 0 })
  if (!tasks) return known
  const runs = await recentRuns(db, delegation_id, RUNS_OF_AN_HOUR)
  const due = known.state === 'active' ? dueAfterChange({ before: known, after: tasks, runs, now }) : NOT_DUE
  await setTasks(db, delegation_id, tasks, due)
  return { ...known, tasks: JSON.stringify(tasks), ...due }
}

/** For each that one may have at a time: to end them and make others again and again is nobody's need. */
const MADE_A_DAY = 5
const DAY = 86_400

/** Of two tasks that are each done once an hour at most, with something to spare. */
const RUNS_OF_AN_HOUR = 10
const NOT_DUE = { mirror_at: null, watch_at: null }

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
