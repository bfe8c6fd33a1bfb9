// Notes the transaction of a statement before it is sent, or that the statement waits because its budget is used up.

import type { AnchorAbsence, PushResult } from '@svc/api/attestations'
import { isoSeconds } from '@svc/protocol/evidence'
import { DAY, giveBack, type Refusal, spend } from '../budgets/budgets.ts'
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
  prepared: PreparedPublication,
): Promise<'noted' | 'under_way' | 'superseded' | PushResult> {
  const { publication } = prepared
  const standing = await lockStanding(tx, publication.receipt_id)
  if (standing.sequence !== publication.sequence) return 'superseded'
  if (!(await insertPublication(tx, publication))) return 'under_way'
  const refusal = await spendOn(tx, parts, prepared)
  if (refusal) {
    await deletePublication(tx, publication.tx)
    return (await deferPush(tx, parts, publication, refusal)) ?? 'under_way'
  }
  await setStanding(tx, standing, publication, { status: 'pushing', at: publication.sent_at, error: null })
  return 'noted'
}

/** A deposit is no fee: lockers that open their accounts leave to others what publishing costs in a day. */
async function spendOn(
  tx: Tx,
  parts: Parts,
  { publication, fee, deposit }: PreparedPublication,
): Promise<Refusal | null> {
  const { tx: signature, receipt_id } = publication
  const refusal = await spend(tx, parts, { ...budgetOf(parts, publication), tx: signature, amount: fee })
  if (refusal || deposit === 0) return refusal
  const limits = [{ who: `deposit ${receipt_id}`, count: 0, seconds: DAY }]
  const noDeposit = await spend(tx, parts, { budget: 'registry_rent', limits, tx: signature, amount: deposit })
  if (noDeposit) await giveBack(tx, signature)
  return noDeposit
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
