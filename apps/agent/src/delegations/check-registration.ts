// Whether the gateway lets the key of a delegation in: what the owner says to the gateway is never said to us.

import type { Tasks } from '@svc/api/agent/tasks'
import type { JobRun } from '@svc/queue/queue'
import { isGatewayError } from '@svc/sdk/errors'
import { hasRoom } from '../callers/limits.ts'
import { type Context, unixNow } from '../context.ts'
import type { DelegationRow } from '../db/schema.ts'
import { findSubscription } from '../subscriptions/store.ts'
import { isRunning } from '../subscriptions/subscription-view.ts'
import { dueAtOnce } from './due-times.ts'
import { noteRevoked } from './note-revoked.ts'
import { findDelegation, lastStarts, lockDelegation, setNextCheck, setRegistered } from './store.ts'

/** After each time it was not let in; then the last one again and again. */
const PAUSES_SECONDS = [15, 30, 60, 120, 300, 900, 3600]
/** What is due no sooner is found by the clock. */
const CLOCK_PERIOD_SECONDS = 60

/**
 * A key that is not let in is a wrong signature to the gateway, which takes so many of them from one address: those of
 * one owner must not shut out the work for all others.
 */
const CHECKS_PER_MINUTE = 10

/** With the pauses of the queue, some minutes. */
export const CHECK_ATTEMPTS = 6

/** The job. One that got no answer in the end is no dead letter: there will be another look. */
export async function lookForKey(context: Context, delegationId: string, { attempt }: JobRun): Promise<void> {
  try {
    await checkRegistration(context, delegationId)
  } catch (error) {
    if (attempt < CHECK_ATTEMPTS) throw error
    context.log.warn({ delegation: delegationId, err: error }, 'whether a key is registered could not be found out')
    await checkLater(context, delegationId, PAUSES_SECONDS.length - 1)
  }
}

/** Rejects where the gateway gives no answer to that question. */
export async function checkRegistration(context: Context, delegationId: string): Promise<void> {
  const delegation = await findDelegation(context.database.db, delegationId)
  if (!delegation || delegation.ended_at !== null || !(await isPaidFor(context, delegation))) return
  if (!(await mayCheck(context, delegation))) return checkLater(context, delegationId, delegation.checks)
  if (await isLetIn(context, delegation)) return noteRegistered(context, delegationId)
  if (delegation.state === 'active') return noteRevoked(context, delegationId)
  return checkLater(context, delegationId, delegation.checks + 1)
}

async function isPaidFor(context: Context, { identity }: DelegationRow): Promise<boolean> {
  const subscription = await findSubscription(context.database.db, identity)
  return subscription !== null && isRunning(context, subscription)
}

function mayCheck(context: Context, { identity }: DelegationRow): Promise<boolean> {
  return hasRoom(context, { key: `registration checks ${identity}`, perMinute: CHECKS_PER_MINUTE })
}

async function isLetIn(
  { gateway, delegationKeys }: Context,
  { delegation_id, locker_id, receipt_id }: DelegationRow,
): Promise<boolean> {
  try {
    await gateway.client(delegationKeys.signerOf(delegation_id)).metadata({ locker_id, receipt_id })
    return true
  } catch (error) {
    if (isGatewayError(error, 'SIGNATURE_INVALID', 'locker_not_found')) return false
    throw error
  }
}

/** Work begins at once: somebody may be looking. */
async function noteRegistered({ database, queue, now }: Context, delegationId: string): Promise<void> {
  const at = unixNow({ now })
  await database.db.transaction().execute(async (tx) => {
    const delegation = await lockDelegation(tx, delegationId)
    if (delegation?.state !== 'pending') return
    const tasks: Tasks = JSON.parse(delegation.tasks)
    const due = dueAtOnce(tasks, await lastStarts(tx, delegation.receipt_id), at)
    await setRegistered(tx, delegationId, at, due)
    const job = { delegation_id: delegationId }
    if (due.mirror_at === at) await queue.enqueue(tx, 'mirror', job, { key: delegationId })
    if (due.watch_at === at) await queue.enqueue(tx, 'watch', job, { key: delegationId })
  })
}

async function checkLater({ database, queue, now }: Context, delegationId: string, checks: number): Promise<void> {
  const delaySeconds = PAUSES_SECONDS[Math.max(0, checks - 1)] ?? (PAUSES_SECONDS.at(-1) as number)
  await database.db.transaction().execute(async (tx) => {
    const delegation = await lockDelegation(tx, delegationId)
    if (delegation?.state !== 'pending') return
    await setNextCheck(tx, delegationId, { check_at: unixNow({ now }) + delaySeconds, checks })
    if (delaySeconds >= CLOCK_PERIOD_SECONDS) return
    const options = { key: delegationId, delaySeconds }
    await queue.enqueue(tx, 'check-registration', { delegation_id: delegationId }, options)
  })
}
