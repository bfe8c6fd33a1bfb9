// Records the code of a payment, and publishes it in a memo where that is enabled.

import { type JobRun, PermanentError } from '@svc/database/queue/queue'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { watchTransaction } from '@svc/payments/solana/outcome'
import type { SignedTransaction } from '@svc/payments/solana/sign-transaction'
import { sendOnce } from '@svc/payments/transactions'
import { canonicalBytes } from '@svc/protocol/canonical'
import { isoSeconds } from '@svc/protocol/evidence'
import { paymentAttCode } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError } from '@svc/service/service-error'
import { receiptNotFound } from '../auth/errors.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import { checkBudget, giveBack, type Refusal, spend } from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'
import type { Tx } from '../db/schema.ts'
import { delayOf, limitsOf } from './budget.ts'
import { NotPublished } from './errors.ts'
import { memoInstruction } from './memo.ts'
import type { Publisher } from './publisher.ts'
import { lostTransaction } from './record-outcome.ts'
import { findPaymentCode, notePaymentMemo, recordPaymentCode, recordPaymentSlot } from './store.ts'

interface PaymentAttested {
  ok: true
  receipt_id: string
  att_code: number
  recorded: boolean
  publish_after?: string
  publish_error?: string
}

export async function attestPayment(context: Context, receipt_id: string): Promise<PaymentAttested> {
  const { database, publisher, config } = context
  const found = await findReceiptAndLocker(database.db, receipt_id)
  if (!found) throw receiptNotFound()
  const att_code = paymentAttCode(found.receipt)
  await database.commit((tx) => recordPaymentCode(tx, { receipt_id, att_code, recorded_at: unixNow(context) }))
  const answer = { ok: true as const, receipt_id, att_code, recorded: true }
  if (!publisher || !config.anchors.includesPayments) return answer
  try {
    const published = await publishCode(context, publisher, found.receipt, att_code)
    return published === 'published' ? answer : { ...answer, publish_after: isoSeconds(published.until) }
  } catch (error) {
    if (error instanceof NotPublished && !error.isRetryable) return { ...answer, publish_error: error.message }
    return rejectAsAnchorFailed(error)
  }
}

/** How long the job pauses once its attempts are used up. */
const PAUSE_SECONDS = 3600

export async function runAttestPaymentJob(
  context: Context,
  receipt_id: string,
  { isLast }: Pick<JobRun, 'isLast'>,
): Promise<void> {
  try {
    const { publish_error } = await attestPayment(context, receipt_id)
    if (publish_error !== undefined) throw new PermanentError(publish_error)
  } catch (error) {
    if (!isLast || !(error instanceof ServiceError) || error.code !== 'anchor_failed') throw error
    const { database, queue, log } = context
    log.warn({ err: error }, 'the code of a payment could not be published; it is published later')
    const later = { key: receipt_id, delaySeconds: PAUSE_SECONDS, maxAttempts: 1 }
    await database.commit((tx) => queue.enqueue(tx, 'attest-payment', { receipt_id }, later))
  }
}

/** The memo names the payment and not the receipt, whose id opens files. */
async function publishCode(
  context: Context,
  publisher: Publisher,
  { receipt_id, network, tx_hash }: SignedReceipt,
  attCode: number,
): Promise<'published' | Refusal> {
  const { database, config, queue } = context
  const { db, commit } = database
  const budget = { budget: 'publication', limits: limitsOf(context, 'payment', receipt_id) } as const
  const memo = canonicalBytes({ s: 'svc/payment/v1', net: network, tx: tx_hash, code: attCode })
  let lost: string | null = null
  let refusal: Refusal | null = null
  return sendOnce<SignedTransaction, 'published' | Refusal>({
    async resolve(round) {
      if (refusal) return refusal
      const { tx, raw, last_valid_height, slot } = await findPaymentCode(db, receipt_id)
      if (slot !== null) return 'published'
      if (tx === null || raw === null || last_valid_height === null) return null
      const noted = { tx, raw, last_valid_height }
      const found = await watchTransaction(publisher.nodes, noted, config.anchors.waitSeconds * 1000)
      if (found.outcome === 'pending') throw new NotPublished('outcome_unknown', tx, { tx, isAmbiguous: true })
      if (found.outcome === 'landed') {
        await commit((tx) => recordPaymentSlot(tx, receipt_id, found.slot))
        return 'published'
      }
      if (found.outcome === 'expired') await commit((expired) => giveBack(expired, tx))
      if (round > 0) throw lostTransaction(noted, found)
      lost = tx
      return null
    },
    async sign() {
      refusal = await checkBudget(db, context, budget)
      if (!refusal) return publisher.prepare([memoInstruction(memo, config.anchors.memoProgram, publisher.signer)])
      const delaySeconds = delayOf(context, refusal)
      await commit((tx) => tryLater(tx, delaySeconds))
      return null
    },
    note: (signed) =>
      commit(async (tx) => {
        if (!(await notePaymentMemo(tx, receipt_id, lost, signed))) return false
        refusal = await spend(tx, context, { ...budget, tx: signed.tx, amount: publisher.maxFee })
        if (!refusal) return true
        await notePaymentMemo(tx, receipt_id, signed.tx, NO_MEMO)
        await tryLater(tx, delayOf(context, refusal))
        return false
      }),
    send: ({ raw }) => publisher.nodes.send(raw),
  })

  function tryLater(tx: Tx, delaySeconds: number) {
    return queue.enqueue(tx, 'attest-payment', { receipt_id }, { key: receipt_id, delaySeconds })
  }
}

const NO_MEMO = { tx: null, raw: null, last_valid_height: null }

function rejectAsAnchorFailed(error: unknown): never {
  if (!(error instanceof NotPublished) && !(error instanceof ChainUnavailable)) throw error
  throw new ServiceError('anchor_failed', `the code of the payment could not be published: ${error.message}`, {
    hint: 'ask again: what was sent is looked for first',
    cause: error,
  })
}
