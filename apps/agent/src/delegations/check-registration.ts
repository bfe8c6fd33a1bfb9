// Checks whether the gateway accepts the key of a delegation. Owners register it there, and the agent is not notified.

import type { Tasks } from '@svc/api/agent/tasks'
import type { JobRun } from '@svc/database/queue/queue'
import { isGatewayError } from '@svc/sdk/errors'
import { isWithinLimits } from '@svc/service/guard/rate-limiter'
import { type Context, unixNow } from '../context.ts'
import type { DelegationRow } from '../db/schema.ts'
import type { Subscriptions } from '../subscriptions/subscriptions.ts'
import { firstDueTimes } from './due-times.ts'
import { findDelegation, lastStarts, lockDelegation, setNextCheck, setRegistered } from './store.ts'

/** Pauses after each check that found no key; the last one repeats. */
const PAUSES_SECONDS = [15, 30, 60, 120, 300, 900, 3600]
/** The job that runs every minute finds checks that are due later than this. */
const DUE_WORK_SECONDS = 60

/**
 * To the gateway, an unregistered key is an invalid signature, which it limits by address. The checks of one owner must
 * not use up that limit for all others.
 */
const CHECKS_PER_MINUTE = 10

/** With the pauses of the queue, some minutes. */
export const CHECK_ATTEMPTS = 6

interface Needs {
  subscriptions: Subscriptions
  revoke(delegationId: string): Promise<void>
}

/** The job. After its last attempt it schedules another check instead of becoming a dead letter. */
export async function runRegistrationCheck(
  context: Context,
  needs: Needs,
  delegationId: string,
  { attempt }: JobRun,
): Promise<void> {
  try {
    await checkRegistration(context, needs, delegationId)
  } catch (error) {
    if (attempt < CHECK_ATTEMPTS) throw error
    context.log.warn({ delegation: delegationId, err: error }, 'cannot check whether a key is registered')
    await checkLater(context, delegationId, PAUSES_SECONDS.length - 1)
  }
}

export async function checkRegistration(
  context: Context,
  { subscriptions, revoke }: Needs,
  delegationId: string,
): Promise<void> {
  const delegation = await findDelegation(context.database.db, delegationId)
  if (!delegation || delegation.ended_at !== null) return
  if (!(await subscriptions.findActive(delegation.identity))) return
  if (!(await mayCheck(context, delegation))) return checkLater(context, delegationId, delegation.checks)
  if (await isRegistered(context, delegation)) return markRegistered(context, delegationId)
  if (delegation.state === 'active') return revoke(delegationId)
  return checkLater(context, delegationId, delegation.checks + 1)
}

function mayCheck({ rateLimiter }: Context, { identity }: DelegationRow): Promise<boolean> {
  return isWithinLimits(rateLimiter, { key: `registration checks ${identity}`, perMinute: CHECKS_PER_MINUTE })
}

async function isRegistered(
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

/** Enqueues the first runs immediately: the owner may be watching. */
async function markRegistered({ database, queue, now }: Context, delegationId: string): Promise<void> {
  const at = unixNow({ now })
  await database.commit(async (tx) => {
    const delegation = await lockDelegation(tx, delegationId)
    if (delegation?.state !== 'pending') return
    const tasks: Tasks = JSON.parse(delegation.tasks)
    const due = firstDueTimes(tasks, await lastStarts(tx, delegation.receipt_id), at)
    await setRegistered(tx, delegationId, at, due)
    const job = { delegation_id: delegationId }
    if (due.mirror_at === at) await queue.enqueue(tx, 'mirror', job, { key: delegationId })
    if (due.watch_at === at) await queue.enqueue(tx, 'watch', job, { key: delegationId })
  })
}

async function checkLater({ database, queue, now }: Context, delegationId: string, checks: number): Promise<void> {
  const delaySeconds = PAUSES_SECONDS[Math.max(0, checks - 1)] ?? (PAUSES_SECONDS.at(-1) as number)
  await database.commit(async (tx) => {
    const delegation = await lockDelegation(tx, delegationId)
    if (delegation?.state !== 'pending') return
    await setNextCheck(tx, delegationId, { check_at: unixNow({ now }) + delaySeconds, checks })
    if (delaySeconds >= DUE_WORK_SECONDS) return
    const options = { key: delegationId, delaySeconds }
    await queue.enqueue(tx, 'check-registration', { delegation_id: delegationId }, options)
  })
}
