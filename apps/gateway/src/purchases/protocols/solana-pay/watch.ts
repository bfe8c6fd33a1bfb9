// Watches for payments on behalf of buyers who show the Solana Pay code of a quote. A payment that is found gets its
// receipt as if it had been confirmed. Requests to nodes are limited in total, and a quote is checked ever less often
// until it ends (T-66). A paid quote is then checked once more, because a wallet may have paid it twice (T-205).

import type { Body } from '@svc/api/endpoint'
import { ROLES } from '@svc/api/networks'
import type { FoundPayment, WatchedPayment, watchPayment as watchPaymentEndpoint } from '@svc/api/payment'
import type { Quote } from '@svc/api/purchases'
import { inParallel } from '@svc/concurrency/parallel'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { type QuotedLeg, quotedLeg, readPayment } from '@svc/payments/selling/confirm'
import { payReqNotFound, quoteExpired } from '@svc/payments/selling/errors'
import { isoSeconds } from '@svc/protocol/evidence'
import { solanaPayReference } from '@svc/protocol/ids'
import { addressKey } from '@svc/service/guard/address-key'
import { isWithinLimits } from '@svc/service/guard/rate-limiter'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { limitAnonymous } from '../../../auth/limits.ts'
import { type Context, unixNow } from '../../../context.ts'
import type { Tx, WatchedQuoteTable } from '../../../db/schema.ts'
import { claim } from '../../claim.ts'
import { findPayRequest, findReceiptOfRequest, type PayRequest } from '../../store.ts'
import { recordRefused } from '../../unclaimed/record-payment.ts'
import {
  beginCheck,
  countWatches,
  deleteEndedWatches,
  deleteWatch,
  dueWatches,
  findWatch,
  insertWatch,
  nextDue,
  recordCheck,
} from './store.ts'

const FIRST_PAUSE_SECONDS = 3
const LONGEST_PAUSE_SECONDS = 60
/**
 * Transactions that one check reads. Anyone who saw the code can reference it, so further transactions wait for the
 * next check.
 */
const MAX_READ = 5
const MAX_CHECKS = 20
/** How long the result of a check that found nothing is reused. */
const FRESH_SECONDS = 5
/** How long after a quote's end its watch continues, to find a last-second payment despite a short outage of nodes. */
const GRACE_SECONDS = 600
/** Quotes stay for about fifteen minutes, so that one address can take little more than a tenth of the watches. */
const ADDRESS_SHARE = 100

/** Starts a watch for a buyer who shows the code of a quote. */
export async function watchPayment(
  context: Context,
  { pay_req_id }: Body<typeof watchPaymentEndpoint>,
  wire: WireRequest,
): Promise<WatchedPayment> {
  const { db, commit } = context.database
  await limitAnonymous(context, wire, null)
  const request = await findPayRequest(db, pay_req_id)
  if (!request) throw payReqNotFound()
  const now = unixNow(context)
  if (now > request.expires_at) throw quoteExpired(request.expires_at, now)
  const known = await findWatch(db, pay_req_id)
  if (known) return { watched_until: isoSeconds(known.watched_until) }
  if (!(await mayWatch(context, request, wire))) return { watched_until: null }
  const { lateConfirmSeconds } = context.config.payments
  const watched_until = request.expires_at + Math.min(GRACE_SECONDS, lateConfirmSeconds)
  await commit(async (tx) => {
    await insertWatch(tx, { pay_req_id, watched_at: now, watched_until, due_at: now + FIRST_PAUSE_SECONDS })
    await scheduleChecks(context, tx, FIRST_PAUSE_SECONDS)
  })
  return { watched_until: isoSeconds(watched_until) }
}

/** A buyer who is refused loses nothing: `find` checks for the payment while they wait. */
async function mayWatch(context: Context, request: PayRequest, wire: WireRequest): Promise<boolean> {
  const { db } = context.database
  const { callsPerMinute, maxQuotes } = context.config.payments.watch
  if (callsPerMinute === 0 || payableLegs(request).length === 0) return false
  if (await findReceiptOfRequest(db, request.pay_req_id)) return false
  if ((await countWatches(db)) >= maxQuotes) return false
  const perMinute = Math.ceil(maxQuotes / ADDRESS_SHARE)
  return isWithinLimits(context.rateLimiter, { key: `watch ${addressKey(wire.clientAddress)}`, perMinute })
}

/** The job. */
export async function watchPayments(context: Context, signal: AbortSignal): Promise<void> {
  const { db, commit } = context.database
  const now = unixNow(context)
  await commit((tx) => deleteEndedWatches(tx, now))
  // Runs are one second apart, which spreads the calls of a minute.
  const due = await dueWatches(db, now, Math.ceil(context.config.payments.watch.callsPerMinute / 60))
  signal.throwIfAborted()
  if (due.length > 0 && (await mayQuery(context, due.length)))
    await inParallel(due, MAX_CHECKS, (watch) => check(context, watch, now))
  await scheduleNext(context)
}

async function scheduleNext(context: Context): Promise<void> {
  const { db, commit } = context.database
  const next = await nextDue(db)
  if (next === null) return
  // No later than a quote becomes due that is watched from now on.
  const seconds = Math.min(Math.max(1, next - unixNow(context)), FIRST_PAUSE_SECONDS)
  await commit((tx) => scheduleChecks(context, tx, seconds))
}

/** The same key as the regular run, so that only one run waits. */
function scheduleChecks({ queue }: Context, tx: Tx, delaySeconds: number) {
  return queue.enqueue(tx, 'watch-payments', {}, { key: 'schedule', delaySeconds })
}

function mayQuery({ rateLimiter, config }: Context, calls: number): Promise<boolean> {
  const { callsPerMinute: perMinute } = config.payments.watch
  return isWithinLimits(rateLimiter, { key: 'payment watch', perMinute, cost: Math.min(calls, perMinute) })
}

async function check(context: Context, watch: WatchedQuoteTable, now: number): Promise<void> {
  const { db, commit } = context.database
  const { pay_req_id } = watch
  if (!(await commit((tx) => beginCheck(tx, watch, { due_at: now + pauseAfter(watch, now), looked_at: now })))) return
  const request = await findPayRequest(db, pay_req_id)
  if (!request) return commit((tx) => deleteWatch(tx, pay_req_id))
  const receipt = await findReceiptOfRequest(db, pay_req_id)
  const atTheEnd = { due_at: watch.watched_until - LONGEST_PAUSE_SECONDS }
  if (receipt && now < atTheEnd.due_at) return commit((tx) => recordCheck(tx, pay_req_id, atTheEnd))
  const named = (await transactionsNaming(context, watch)).filter((tx) => tx !== receipt?.tx_hash)
  const read = named.slice(0, MAX_READ)
  if (read.length === 0) return
  const legs = payableLegs(request)
  const soon = { due_at: now + 1 }
  if (!(await mayQuery(context, read.length * legs.length))) return commit((tx) => recordCheck(tx, pay_req_id, soon))
  let isPassing = true
  for (const tx of read) {
    const paid = await claimPayment(context, request, legs, tx)
    if (typeof paid === 'object') return commit((tx) => recordCheck(tx, pay_req_id, { ...paid, ...atTheEnd }))
    isPassing &&= paid === 'unpaid'
    if (isPassing) await commit((dbTx) => recordCheck(dbTx, pay_req_id, { passed_tx: tx }))
  }
  if (isPassing && named.length > MAX_READ) await commit((tx) => recordCheck(tx, pay_req_id, soon))
}

/** A tenth of the time since the watch began. */
function pauseAfter({ watched_at }: WatchedQuoteTable, now: number): number {
  return Math.min(Math.max(Math.floor((now - watched_at) / 10), FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)
}

/** Oldest first. Empty while no node responds: the next check repeats the query. */
async function transactionsNaming(
  { sales, log }: Context,
  { pay_req_id, passed_tx }: WatchedQuoteTable,
): Promise<string[]> {
  try {
    return await sales.payerNode(ROLES.solanaPay).transactionsNaming(solanaPayReference(pay_req_id), passed_tx)
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    log.warn({ err: error }, 'cannot check for payments')
    return []
  }
}

type ClaimResult = { tx: string; asset: string } | 'unpaid' | 'undecided'

/** Creates the receipt if the transaction pays a leg. */
async function claimPayment(
  context: Context,
  request: PayRequest,
  legs: readonly QuotedLeg[],
  tx: string,
): Promise<ClaimResult> {
  try {
    for (const leg of legs) {
      const payReqIds = [request.pay_req_id]
      const payment = await readPayment(context, tx, [{ request, leg }], payReqIds)
      if (payment.outcome === 'found') {
        await claim(context, { tx: payment.tx, kind: 'single', payment, quotes: [{ request, leg }] })
        return { tx: payment.tx, asset: leg.ticker }
      }
      await recordRefused(context, { request, leg, payReqIds, reason: payment.reason, payment: payment.seen.payment })
    }
    return 'unpaid'
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // The payment belongs to another quote, or another transaction paid this quote and this one was recorded for
    // refund.
    if (error.code === 'payment_verification_failed') return 'unpaid'
    if (error.code !== 'tx_not_found') context.log.warn({ code: error.code }, 'cannot claim a payment yet')
    return 'undecided'
  }
}

function payableLegs({ quote }: PayRequest): QuotedLeg[] {
  const { accepts } = JSON.parse(quote) as Quote
  return accepts.map(quotedLeg).filter(({ network }) => network === ROLES.solanaPay)
}

/**
 * The known state of the payment of a watched quote; null when no recent check exists. Reports only payments that name
 * the quote's reference, which anyone who knows the quote can also find on chain (ADD-13).
 */
export async function findWatchedPayment(context: Context, payReqId: string): Promise<FoundPayment | null> {
  const watch = await findWatch(context.database.db, payReqId)
  if (!watch) return null
  const { tx, asset, looked_at } = watch
  if (tx !== null && asset !== null) return { payment: { tx, pay_network: ROLES.solanaPay.name, pay_asset: asset } }
  const isFresh = looked_at !== null && looked_at > unixNow(context) - FRESH_SECONDS
  return isFresh ? { payment: null } : null
}
