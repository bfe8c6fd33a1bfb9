// The common part of all publishers, for any content and chain. A transaction is recorded with its cost before it is
// sent, and a recorded transaction is resolved before another is signed: no second one is sent while the first may
// still land (T-19). One watch follows sent transactions: it finds those that have landed, have expired, or must be
// sent again.

import { sendOnce } from '@svc/payments/transactions'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import {
  type Account,
  checkBudget,
  DAY,
  HOUR,
  type Limit,
  type Refusal,
  releaseSpending,
  type Spending,
  spend,
} from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'
import type { DocumentId, RecordDocuments } from '../continuity/document-id.ts'
import type { Db, Tx } from '../db/schema.ts'

type Found = { outcome: TransactionOutcome }

/** How transactions of one kind are resent and resolved. `Sent`: the row that records one. */
export interface Sender<Sent, Outcome extends Found = Found> {
  /** Documents that the journal must have before anyone learns of the transaction. */
  documentsOf(db: Db, sent: Sent): Promise<DocumentId[]>
  send(context: Context, sent: Sent): Promise<unknown>
  /** Asks until the outcome is known or the time is up, and resends the transaction at intervals. */
  waitFor(context: Context, sent: Sent): Promise<Outcome>
  /** Records the outcome, once for all processes. Returns why the transaction does not publish, or null if it does. */
  record(context: Context, sent: Sent, found: Outcome): Promise<Error | null>
}

/** A watched sender. `watch` follows its transactions. */
export interface Publisher<Sent, Outcome extends Found = Found> extends Sender<Sent, Outcome> {
  /** The job that watches it, and how often the job runs. */
  job: 'watch-publications' | 'anchor-log' | 'bridge-retry'
  seconds: number
  isOn(context: Context): boolean
  /** Transactions that may still land and that no caller waits for. */
  open(context: Context): Promise<Sent[]>
  /** Transactions that have landed but are not final: the chain may drop a confirmed block. */
  landed(context: Context): Promise<Sent[]>
  /** The outcome of each, read in one call. */
  outcomes(context: Context, sent: readonly Sent[]): Promise<Outcome[]>
  /** Publishes what is due, or queues it. `open`: what was open when this run of the watch began. */
  publishDue(context: Context, open: readonly Sent[]): Promise<unknown>
}

/** A single thing to publish. */
export interface Attempt<Signed, Sent, Result> {
  /** Who pays for it, and how often. */
  account: Account
  /** The recorded transaction that may still land, from any process. */
  findSent(): Promise<Sent | null>
  /** Null if a transaction has to be signed; throws if none may be. */
  result(resolved: Resolved<Sent>): Promise<Result | null>
  /** Null if another process was first. */
  sign(): Promise<Signed | null>
  /** Records the transaction. False, without a write, if another transaction is recorded instead. */
  insert(tx: Tx, signed: Signed): Promise<boolean>
  /** What it may cost, on each of its budgets. */
  costs(signed: Signed): Spending[]
  /** Runs in the transaction that has recorded it, once its costs are counted. */
  recorded?(tx: Tx, signed: Signed, recordDocuments: RecordDocuments): Promise<void>
  /** Undoes `insert` in the same transaction, because its budget is used up. */
  remove(tx: Tx, signed: Signed): Promise<void>
  /** Records that it waits for its budget. Null if another process was first. */
  defer(tx: Tx, refusal: Refusal): Promise<Result | null>
  send(signed: Signed): Promise<unknown>
}

interface Resolved<Sent> {
  sent: Sent | null
  /** Why that transaction does not publish. */
  problem: Error | null
  /** In round 0 this run has signed nothing yet. */
  round: number
}

export function publish<Signed, Sent, Outcome extends Found, Result>(
  context: Context,
  sender: Sender<Sent, Outcome>,
  attempt: Attempt<Signed, Sent, Result>,
): Promise<Result> {
  const { db, commit } = context.database
  let deferred: Result | null = null
  return sendOnce<Signed, Result>({
    async resolve(round) {
      if (deferred !== null) return deferred
      const sent = await attempt.findSent()
      // The process that recorded it may have stopped before sending it.
      if (sent && round === 0) await resend(context, sender, sent)
      const problem = sent && (await sender.record(context, sent, await sender.waitFor(context, sent)))
      return attempt.result({ sent, problem, round })
    },
    async sign() {
      const refusal = await checkBudget(db, context, attempt.account)
      if (!refusal) return attempt.sign()
      deferred = await commit((tx) => attempt.defer(tx, refusal))
      return null
    },
    async record(signed) {
      const written = await commit(async (tx, recordDocuments) => {
        if (!(await attempt.insert(tx, signed))) return { isRecorded: false, deferred: null }
        const refusal = await spendAll(tx, context, attempt.costs(signed))
        if (!refusal) {
          await attempt.recorded?.(tx, signed, recordDocuments)
          return { isRecorded: true, deferred: null }
        }
        await attempt.remove(tx, signed)
        return { isRecorded: false, deferred: await attempt.defer(tx, refusal) }
      })
      deferred = written.deferred
      return written.isRecorded
    },
    send: (signed) => attempt.send(signed),
  })
}

/** Counts a transaction on all of its budgets, or on none. */
async function spendAll(tx: Tx, context: Context, costs: readonly Spending[]): Promise<Refusal | null> {
  for (const cost of costs) {
    const refusal = await spend(tx, context, cost)
    if (refusal && cost !== costs[0]) await releaseSpending(tx, cost.tx)
    if (refusal) return refusal
  }
  return null
}

export async function watch<Sent, Outcome extends Found>(
  context: Context,
  publisher: Publisher<Sent, Outcome>,
): Promise<void> {
  if (!publisher.isOn(context)) return
  const open = await publisher.open(context)
  const found = await publisher.outcomes(context, open)
  await Promise.all(open.map((sent, i) => found[i]?.outcome === 'pending' && resend(context, publisher, sent)))
  await recordAll(context, publisher, open, found)
  const landed = await publisher.landed(context)
  await recordAll(context, publisher, landed, await publisher.outcomes(context, landed))
  await publisher.publishDue(context, open)
}

async function recordAll<Sent, Outcome extends Found>(
  context: Context,
  sender: Sender<Sent, Outcome>,
  sent: readonly Sent[],
  outcomes: readonly Outcome[],
): Promise<void> {
  for (const [i, each] of sent.entries()) {
    const found = outcomes[i]
    if (found) await sender.record(context, each, found)
  }
}

async function resend<Sent, Outcome extends Found>(
  context: Context,
  sender: Sender<Sent, Outcome>,
  sent: Sent,
): Promise<void> {
  await context.continuity.requireWritten(...(await sender.documentsOf(context.database.db, sent)))
  await sender.send(context, sent)
}

/** Statements, entries of the EVM registry and payment codes are counted separately. */
type Kind = 'anchor' | 'entry' | 'payment'

/** How often the gateway publishes for a receipt (T-34). Beyond that the newest statement waits. */
export function limitsOf({ config }: Pick<Context, 'config'>, kind: Kind, receiptId: string): Limit[] {
  const { anchorsPerHour, anchorsPerDay } = config.budgets
  const who = `${kind} ${receiptId}`
  return [
    { who, count: anchorsPerHour, seconds: HOUR },
    { who, count: anchorsPerDay, seconds: DAY },
  ]
}

/** The longest delay, so that a raised limit takes effect before the next day. */
const MAX_DELAY_SECONDS = 900

/** When to try again. */
export function delayOf(parts: Pick<Context, 'now'>, { until }: Refusal): number {
  return Math.min(Math.max(until - unixNow(parts), 1), MAX_DELAY_SECONDS)
}
