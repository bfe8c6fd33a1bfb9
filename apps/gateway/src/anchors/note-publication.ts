// Notes the transaction of a statement before it is sent, or that the statement waits because its budget is used up.

import type { AnchorAbsence, PushResult } from '@svc/api/attestations'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Refusal, spend } from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'
import type { Tx } from '../db/schema.ts'
import { delayOf, limitsOf } from './budget.ts'
import type { PreparedPublication } from './publisher.ts'
import {
  deletePublication,
  findSent,
  insertPublication,
  lockStanding,
  type Statement,
  setDeferral,
  setStanding,
} from './store.ts'

type Parts = Pick<Context, 'config' | 'now' | 'log' | 'queue'>

export function budgetOf(parts: Parts, { receipt_id }: Statement) {
  return { budget: 'publication', limits: limitsOf(parts, 'anchor', receipt_id) } as const
}

/** Notes the transaction, its cost and the status of the statement together. */
export async function notePublication(
  tx: Tx,
  parts: Parts,
  { publication, cost }: PreparedPublication,
): Promise<'noted' | 'under_way' | 'superseded' | PushResult> {
  const standing = await lockStanding(tx, publication.receipt_id)
  if (standing.sequence !== publication.sequence) return 'superseded'
  if (!(await insertPublication(tx, publication))) return 'under_way'
  const spending = { ...budgetOf(parts, publication), tx: publication.tx, amount: cost }
  const refusal = await spend(tx, parts, spending)
  if (refusal) {
    await deletePublication(tx, publication.tx)
    return (await deferPush(tx, parts, publication, refusal)) ?? 'under_way'
  }
  await setStanding(tx, standing, publication, { status: 'pushing', at: publication.sent_at, error: null })
  return 'noted'
}

/**
 * Records why the statement waits, together with a job that publishes the statement that is the newest by then. Null
 * when another process has just sent a transaction of the receipt.
 */
export async function deferPush(
  tx: Tx,
  parts: Parts,
  statement: Statement,
  refusal: Refusal,
): Promise<'superseded' | PushResult | null> {
  const { receipt_id, sequence } = statement
  const standing = await lockStanding(tx, receipt_id)
  if (standing.sequence !== sequence) return 'superseded'
  if (standing.status === 'complete' || (await findSent(tx, receipt_id))) return null
  const { reason, until } = refusal
  const deferral: AnchorAbsence = { reason, publish_after: isoSeconds(until) }
  if (standing.deferral !== JSON.stringify(deferral)) await setDeferral(tx, statement, { deferral, at: unixNow(parts) })
  const delaySeconds = delayOf(parts, refusal)
  await parts.queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id, delaySeconds })
  return { ...deferral, status: 'deferred', reason, anchor: null, anchor_type: null, error: null }
}
