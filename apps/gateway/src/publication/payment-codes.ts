// Records the code of a payment, and publishes it in a memo if that is enabled.

import { type JobRun, PermanentError } from '@svc/database/queue/queue'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { type SolanaOutcome, watchTransaction } from '@svc/payments/solana/outcome'
import type { SignedTransaction } from '@svc/payments/solana/sign-transaction'
import { canonicalBytes } from '@svc/protocol/canonical'
import { isoSeconds } from '@svc/protocol/evidence'
import { paymentAttCode } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError } from '@svc/service/service-error'
import { receiptNotFound } from '../auth/errors.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import { type Refusal, releaseSpending } from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'
import type { PaymentCodeTable } from '../db/schema.ts'
import { NotPublished } from './errors.ts'
import { memoInstruction } from './memo.ts'
import type { PrimaryChain } from './primary-chain.ts'
import { type Attempt, delayOf, limitsOf, publish, type Sender } from './publisher.ts'
import { lostTransaction } from './record-outcome.ts'
import { findPaymentCode, recordPaymentCode, recordPaymentMemo, recordPaymentSlot } from './store.ts'

interface PaymentAttested {
  ok: true
  receipt_id: string
  att_code: number
  recorded: boolean
  publish_after?: string
  publish_error?: string
}

export async function attestPayment(context: Context, receipt_id: string): Promise<PaymentAttested> {
  const { database, primaryChain, config } = context
  const found = await findReceiptAndLocker(database.db, receipt_id)
  if (!found) throw receiptNotFound()
  const att_code = paymentAttCode(found.receipt)
  await database.commit((tx) => recordPaymentCode(tx, { receipt_id, att_code, recorded_at: unixNow(context) }))
  const answer = { ok: true as const, receipt_id, att_code, recorded: true }
  if (!primaryChain || !config.anchors.includesPayments) return answer
  try {
    const published = await publish(context, CODES, attemptOf(context, primaryChain, found.receipt, att_code))
    return published === 'published' ? answer : { ...answer, publish_after: isoSeconds(published.until) }
  } catch (error) {
    if (error instanceof NotPublished && !error.isRetryable) return { ...answer, publish_error: error.message }
    return rejectAsAnchorFailed(error)
  }
}

/** How long the job pauses after its attempts are used up. */
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
    log.warn({ err: error }, 'the code of a payment could not be published; it will be published later')
    const later = { key: receipt_id, delaySeconds: PAUSE_SECONDS, maxAttempts: 1 }
    await database.commit((tx) => queue.enqueue(tx, 'attest-payment', { receipt_id }, later))
  }
}

type SentCode = PaymentCodeTable & SignedTransaction // recorded together

/** These are not watched: the job of each is repeated until its memo has landed. */
const CODES: Sender<SentCode, SolanaOutcome> = {
  documentsOf: async () => [],
  send: ({ primaryChain }, { raw }) => primaryChain!.nodes.send(raw),
  waitFor: ({ primaryChain, config }, sent) =>
    watchTransaction(primaryChain!.nodes, sent, config.anchors.waitSeconds * 1000),
  async record({ database: { commit } }, { tx, receipt_id }, found) {
    if (found.outcome === 'pending') return new NotPublished('outcome_unknown', tx, { tx, isAmbiguous: true })
    if (found.outcome === 'landed') {
      await commit((landed) => recordPaymentSlot(landed, receipt_id, found.slot))
      return null
    }
    if (found.outcome === 'expired') await commit((expired) => releaseSpending(expired, tx))
    return lostTransaction({ tx }, found)
  },
}

/** The memo names the payment, not the receipt, whose id grants access to files. */
function attemptOf(
  context: Context,
  primaryChain: PrimaryChain,
  { receipt_id, network, tx_hash }: SignedReceipt,
  attCode: number,
): Attempt<SignedTransaction, SentCode, 'published' | Refusal> {
  const { database, config, queue } = context
  const account = { budget: 'publication', limits: limitsOf(context, 'payment', receipt_id) } as const
  const memo = canonicalBytes({ s: 'svc/payment/v1', net: network, tx: tx_hash, code: attCode })
  let lost: string | null = null
  return {
    account,
    async findSent() {
      const found = await findPaymentCode(database.db, receipt_id)
      return found.tx === null || found.slot !== null ? null : (found as SentCode)
    },
    async result({ sent, problem, round }) {
      const { slot } = await findPaymentCode(database.db, receipt_id)
      if (slot !== null) return 'published'
      if (problem && (round > 0 || (problem as NotPublished).isAmbiguous)) throw problem
      lost = sent?.tx ?? null
      return null
    },
    sign: () => primaryChain.prepare([memoInstruction(memo, config.anchors.memoProgram, primaryChain.signer)]),
    insert: (tx, signed) => recordPaymentMemo(tx, receipt_id, lost, signed),
    costs: ({ tx }) => [{ ...account, tx, amount: primaryChain.maxFee }],
    async remove(tx, signed) {
      await recordPaymentMemo(tx, receipt_id, signed.tx, NO_MEMO)
    },
    async defer(tx, refusal) {
      const options = { key: receipt_id, delaySeconds: delayOf(context, refusal) }
      await queue.enqueue(tx, 'attest-payment', { receipt_id }, options)
      return refusal
    },
    send: ({ raw }) => primaryChain.nodes.send(raw),
  }
}

const NO_MEMO = { tx: null, raw: null, last_valid_height: null }

function rejectAsAnchorFailed(error: unknown): never {
  if (!(error instanceof NotPublished) && !(error instanceof ChainUnavailable)) throw error
  throw new ServiceError('anchor_failed', `the code of the payment could not be published: ${error.message}`, {
    hint: 'repeat the request: it first checks the transaction that was sent',
    cause: error,
  })
}
