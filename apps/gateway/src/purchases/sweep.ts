// Deletes unpaid quotes. Quotes are free to request, so they must not accumulate (T-140).

import { findExcessCutoff, MAX_UNPAID_QUOTES } from '@svc/payments/selling/excess-quotes'
import { type Context, unixNow } from '../context.ts'
import { KEY_LIFETIME_SECONDS } from './idempotency.ts'
import { TEMPLATE_LIFETIME_SECONDS } from './quote.ts'
import { deleteIdempotencyKeys, deleteUnpaidQuotes, deleteUnusedTemplates, nthEndBefore } from './store.ts'

/** Quotes deleted by one transaction, so that other writers do not wait long. */
const BATCH = 1000
/** How long after a quote's end its x402 payment is searched for. */
export const RESUME_SECONDS = 7 * 86_400
/** A confirmation that began at the last moment still finds its quote. */
const MARGIN_SECONDS = 3600

export async function sweepQuotes(context: Context, signal: AbortSignal, maxQuotes = MAX_UNPAID_QUOTES): Promise<void> {
  const { db, commit } = context.database
  const { unpaidQuoteSeconds, lateConfirmSeconds } = context.config.payments
  const now = unixNow(context)
  const over = now - lateConfirmSeconds - MARGIN_SECONDS
  const tooMany = await findExcessCutoff((end, n) => nthEndBefore(db, end, n), over, maxQuotes)
  const before = Math.max(Math.min(over, now - unpaidQuoteSeconds), tooMany)
  const settledBefore = now - RESUME_SECONDS - MARGIN_SECONDS
  for (let deleted = BATCH; deleted === BATCH; ) {
    signal.throwIfAborted()
    deleted = await commit((tx) => deleteUnpaidQuotes(tx, { before, settledBefore }, BATCH))
  }
  await commit((tx) => deleteUnusedTemplates(tx, now - TEMPLATE_LIFETIME_SECONDS))
  await commit((tx) => deleteIdempotencyKeys(tx, now - KEY_LIFETIME_SECONDS))
}
