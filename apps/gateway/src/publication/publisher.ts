// What all publishers have in common, whatever they put on whichever chain. A transaction is noted together with its cost
// before it is sent, and what is noted is resolved before another is signed: no second one is sent while the first may
// still land (T-19). One watch follows what was sent: it finds what has landed, what has expired and what must be sent
// again.

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

/** How transactions of one kind are sent again and resolved. `Sent`: the row in which one is noted. */
export interface Sender<Sent, Outcome extends Found = Found> {
  /** Documents that the journal must have before anybody learns of the transaction. */
  notesOf(db: Db, sent: Sent): Promise<DocumentId[]>
  send(context: Context, sent: Sent): Promise<unknown>
  /** Asks until the outcome is known or the time is up, and sends the transaction again now and then. */
  waitFor(context: Context, sent: Sent): Promise<Outcome>
  /** Records the outcome, once for all processes. Answers why the transaction does not publish; null where it does. */
  record(context: Context, sent: Sent, found: Outcome): Promise<Error | null>
}

/** One that is watched. `watch` follows its transactions. */
export interface Publisher<Sent, Outcome extends Found = Found> extends Sender<Sent, Outcome> {
  /** The job that watches it, and how often that runs. */
  job: 'watch-publications' | 'anchor-log' | 'bridge-retry'
  seconds: number
  isOn(context: Context): boolean
  /** Transactions that may still land, and that no caller waits for. */
  open(context: Context): Promise<Sent[]>
  /** Those that have landed and are not final: the chain may drop a confirmed block. */
  landed(context: Context): Promise<Sent[]>
  /** The outcome of each; asked once for all. */
  outcomes(context: Context, sent: readonly Sent[]): Promise<Outcome[]>
  /** Publishes what is due, or queues it. `open`: what was open when this run of the watch began. */
  publishDue(context: Context, open: readonly Sent[]): Promise<unknown>
}

/** One thing that is to be published. */
export interface Attempt<Signed, Sent, Result> {
  /** Who pays for it, and how often. */
  account: Account
  /** The noted transaction that may still land, of whichever process. */
  findSent(): Promise<Sent | null>
  /** Null where a transaction has to be signed; throws where none may be. */
  result(resolved: Resolved<Sent>): Promise<Result | null>
  /** Null when another process was first. */
  sign(): Promise<Signed | null>
  /** Notes the transaction. False, with nothing written, when another has its place. */
  insert(tx: Tx, signed: Signed): Promise<boolean>
  /** What it may cost, on each of its budgets. */
  costs(signed: Signed): Spending[]
  /** In the transaction that has noted it, once its costs are counted. */
  noted?(tx: Tx, signed: Signed, note: RecordDocuments): Promise<void>
  /** Takes back what `insert` wrote in the same transaction: its budget is used up. */
  remove(tx: Tx, signed: Signed): Promise<void>
  /** Records that it waits for its budget. Null when another process was first. */
  defer(tx: Tx, refusal: Refusal): Promise<Result | null>
  send(signed: Signed): Promise<unknown>
}

interface Resolved<Sent> {
  sent: Sent | null
  /** Why that does not publish. */
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
      // The process that noted it may have stopped before sending it.
      if (sent && round === 0) await sendAgain(context, sender, sent)
      const problem = sent && (await sender.record(context, sent, await sender.waitFor(context, sent)))
      return attempt.result({ sent, problem, round })
    },
    async sign() {
      const refusal = await checkBudget(db, context, attempt.account)
      if (!refusal) return attempt.sign()
      deferred = await commit((tx) => attempt.defer(tx, refusal))
      return null
    },
    async note(signed) {
      const written = await commit(async (tx, note) => {
        if (!(await attempt.insert(tx, signed))) return { isNoted: false, deferred: null }
        const refusal = await spendAll(tx, context, attempt.costs(signed))
        if (!refusal) {
          await attempt.noted?.(tx, signed, note)
          return { isNoted: true, deferred: null }
        }
        await attempt.remove(tx, signed)
        return { isNoted: false, deferred: await attempt.defer(tx, refusal) }
      })
      deferred = written.deferred
      return written.isNoted
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
  await Promise.all(open.map((sent, i) => found[i]?.outcome === 'pending' && sendAgain(context, publisher, sent)))
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

async function sendAgain<Sent, Outcome extends Found>(
  context: Context,
  sender: Sender<Sent, Outcome>,
  sent: Sent,
): Promise<void> {
  await context.continuity.requireWritten(...(await sender.notesOf(context.database.db, sent)))
  await sender.send(context, sent)
}

/** Statements, entries of the EVM registry and codes of payments are counted apart. */
type Kind = 'anchor' | 'entry' | 'payment'

/** How often the gateway publishes for a receipt (T-34). What is over that waits: then the newest statement is published. */
export function limitsOf({ config }: Pick<Context, 'config'>, kind: Kind, receiptId: string): Limit[] {
  const { anchorsPerHour, anchorsPerDay } = config.budgets
  const who = `${kind} ${receiptId}`
  return [
    { who, count: anchorsPerHour, seconds: HOUR },
    { who, count: anchorsPerDay, seconds: DAY },
  ]
}

/** An operator who raises a limit should not have to wait for the next day. */
const MAX_DELAY_SECONDS = 900

/** When to try again. */
export function delayOf(parts: Pick<Context, 'now'>, { until }: Refusal): number {
  return Math.min(Math.max(until - unixNow(parts), 1), MAX_DELAY_SECONDS)
}
