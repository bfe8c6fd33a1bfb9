// Deletes quotes that nobody paid. Anybody can ask for quotes, so they must not stay for ever (T-140).

import { endOfTooMany, MAX_KEPT_QUOTES } from '@svc/payments/selling/too-many-quotes'
import { type Context, unixNow } from '../context.ts'
import { KEY_KEPT_SECONDS } from './idempotency.ts'
import { TEMPLATE_KEPT_SECONDS } from './quote.ts'
import { deleteUnpaidQuotes, deleteUnusedTemplates, forgetIdempotencyKeys, nthEndBefore } from './store.ts'

/** Quotes that one transaction deletes, so that other writers do not wait long. */
const BATCH = 1000
/** For so long after its end, an x402 payment of a quote that was sent is looked for. */
export const RESUME_SECONDS = 7 * 86_400
/** A confirmation that began at the last moment still finds its quote. */
const MARGIN_SECONDS = 3600

export async function sweepQuotes(context: Context, signal: AbortSignal, maxKept = MAX_KEPT_QUOTES): Promise<void> {
  const { db, commit } = context.database
  const { unpaidQuoteSeconds, lateConfirmSeconds } = context.config.payments
  const now = unixNow(context)
  const over = now - lateConfirmSeconds - MARGIN_SECONDS
  const tooMany = await endOfTooMany((end, n) => nthEndBefore(db, end, n), over, maxKept)
  const before = Math.max(Math.min(over, now - unpaidQuoteSeconds), tooMany)
  const settledBefore = now - RESUME_SECONDS - MARGIN_SECONDS
  for (let deleted = BATCH; deleted === BATCH; ) {
    signal.throwIfAborted()
    deleted = await commit((tx) => deleteUnpaidQuotes(tx, { before, settledBefore }, BATCH))
  }
  await commit((tx) => deleteUnusedTemplates(tx, now - TEMPLATE_KEPT_SECONDS))
  await commit((tx) => forgetIdempotencyKeys(tx, now - KEY_KEPT_SECONDS))
}
