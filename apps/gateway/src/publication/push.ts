// Publishes the newest statement of a receipt. Its transaction is noted before it is sent, and resolved before another
// is signed: no second one is sent while the first may still land (T-19).

import type { Anchor, PushAnswer, PushResult } from '@svc/api/attestations'
import { singleFlight } from '@svc/concurrency/sharing'
import { type JobRun, PermanentError } from '@svc/database/queue/queue'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { watchTransaction } from '@svc/payments/solana/outcome'
import { sendOnce } from '@svc/payments/transactions'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { ServiceError } from '@svc/service/service-error'
import { type ReceiptCaller, receiptMismatch } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import { checkBudget } from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'
import { anchorKey } from '../continuity/documents.ts'
import { notAttested } from '../evidence/errors.ts'
import type { AttestationRecord } from '../evidence/record.ts'
import { noteOf } from '../evidence/statements.ts'
import { findAttestation, findRecord } from '../evidence/store.ts'
import { anchorError, NotPublished } from './errors.ts'
import { budgetOf, deferPush, notePublication } from './note-publication.ts'
import type { PreparedPublication, Publisher } from './publisher.ts'
import type { Push, QueueEntry } from './publishing.ts'
import { recordNotSent, recordOutcome } from './record-outcome.ts'
import { findAnchor, findSent, notesOfSent, type Statement } from './store.ts'

type Parts = Pick<Context, 'database' | 'config' | 'now' | 'log' | 'queue' | 'continuity'> & {
  queueEntry: QueueEntry | null
}
type Publishable = AttestationRecord & { record: { envelope: EvidenceEnvelope } }

const SKIPPED: PushResult = {
  status: 'skipped',
  anchor: null,
  anchor_type: null,
  reason: 'no_feed_configured',
  error: null,
}

/** While the newest blockhash stays the same, signing again gives the same transaction, which is noted once. */
const MAX_ROUNDS = 3

export function createPush(parts: Parts, publisher: Publisher | null): Push {
  const { db, commit } = parts.database
  const share = singleFlight<PushResult | 'superseded'>()

  return async function push(receiptId): Promise<PushResult> {
    const record = await findRecord(db, receiptId)
    if (!record || !isPublishable(record)) throw await nothingToPublish(receiptId)
    if (record.anchor) return published('already_anchored', record.anchor)
    if (!publisher) {
      const { sequence } = record
      await commit(async (tx) => parts.queueEntry?.(tx, { receipt_id: receiptId, sequence }, 0))
      return SKIPPED
    }
    const result = await share(`${receiptId} ${record.sequence}`, () => publish(publisher, record))
    return result === 'superseded' ? push(receiptId) : result
  }

  async function nothingToPublish(receiptId: string): Promise<ServiceError> {
    const known = await findAttestation(db, receiptId)
    return notAttested(receiptId, { isPending: known?.status === 'pending' })
  }

  /** Answers `superseded` when a newer statement must be published instead. */
  async function publish(publisher: Publisher, { receiptId, sequence, record }: Publishable) {
    const statement = { receipt_id: receiptId, sequence }
    let stopped: 'superseded' | PushResult | null = null
    try {
      return await sendOnce<PreparedPublication, PushResult | 'superseded'>({
        async resolve(round) {
          if (stopped) return stopped
          const problem = await resolveSent(publisher, statement, { isNew: round > 0 })
          const anchor = await findAnchor(db, statement)
          if (anchor) return published('pushed', anchor)
          if (problem && round > 0) throw problem
          if (round === MAX_ROUNDS) throw new NotPublished('transaction_refused', 'the chain offers no newer blockhash')
          return null
        },
        async sign() {
          const refusal = await checkBudget(db, parts, budgetOf(parts, statement))
          if (!refusal) return sign(publisher, statement, record.envelope)
          stopped = await commit((tx) => deferPush(tx, parts, statement, refusal))
          return null
        },
        async note(prepared) {
          const noted = await commit(async (tx, note) => {
            const outcome = await notePublication(tx, parts, prepared)
            if (outcome === 'noted') note({ kind: 'publication', key: anchorKey(prepared.publication.tx, 'sent') })
            return outcome
          })
          if (noted !== 'noted' && noted !== 'under_way') stopped = noted
          return noted === 'noted'
        },
        async send({ publication }) {
          // Another process may have made the statement, and stopped before it was in the journal.
          await parts.continuity.requireWritten(...noteOf({ record }))
          await publisher.nodes.send(publication.raw)
        },
      })
    } catch (error) {
      return failed(statement, problemOf(error))
    }
  }

  /**
   * Waits for the outcome of the receipt's open transaction. Answers why it did not publish this statement; null when
   * it did, when none was open, or when it belonged to an earlier statement.
   */
  async function resolveSent(publisher: Publisher, statement: Statement, { isNew }: { isNew: boolean }) {
    const sent = await findSent(db, statement.receipt_id)
    if (!sent) return null
    // The process that noted it may have stopped before sending it.
    if (!isNew) {
      await parts.continuity.requireWritten(...(await notesOfSent(db, sent)))
      await publisher.nodes.send(sent.raw)
    }
    const found = await watchTransaction(publisher.nodes, sent, parts.config.anchors.waitSeconds * 1000)
    const problem = await recordOutcome(parts, publisher.nodes, sent, found)
    const isOwn = sent.sequence === statement.sequence
    if (problem?.isAmbiguous) throw isOwn ? problem : earlierStatementOpen()
    return isOwn ? problem : null
  }

  /** Null when another process was first: the simulation may have failed for that very reason. */
  async function sign(publisher: Publisher, statement: Statement, envelope: EvidenceEnvelope) {
    try {
      return await publisher.prepareStatement(statement, envelope, unixNow(parts))
    } catch (error) {
      if (await isUnderWay(statement)) return null
      throw error
    }
  }

  async function isUnderWay(statement: Statement): Promise<boolean> {
    return (await findSent(db, statement.receipt_id)) !== null || (await findAnchor(db, statement)) !== null
  }

  /** Records the failure of a push that sent nothing; the outcome of a sent transaction is on record already. */
  async function failed(statement: Statement, problem: NotPublished): Promise<PushResult> {
    if (problem.tx === null) await recordNotSent(parts, statement, problem)
    const anchor = await findAnchor(db, statement)
    if (anchor) return published('pushed', anchor)
    const error = anchorError(problem, unixNow(parts))
    return { status: 'failed', anchor: null, anchor_type: null, reason: problem.reason, error }
  }
}

/** Records of the oracle era have no statement to publish. */
function isPublishable(record: AttestationRecord): record is Publishable {
  return record.record.envelope !== undefined
}

function published(status: 'pushed' | 'already_anchored', anchor: Anchor): PushResult {
  return { status, anchor, anchor_type: anchor.type, reason: null, error: null }
}

function earlierStatementOpen(): NotPublished {
  return new NotPublished('earlier_statement_open', 'the transaction of an earlier statement may still come')
}

function problemOf(error: unknown): NotPublished {
  if (error instanceof NotPublished) return error
  if (error instanceof ChainUnavailable) return new NotPublished('rpc_unavailable', error.message)
  throw error
}

/** `POST /v1/attest/push`. */
export async function answerPush(
  context: Context,
  { receipt, signer }: ReceiptCaller,
  receipt_id: string,
): Promise<PushAnswer> {
  if (receipt_id !== receipt.receipt_id) throw receiptMismatch('the envelope is for another receipt than the body')
  await limitSigner(context, signer)
  const result = await context.push(receipt_id)
  if (result.status === 'failed') throw anchorFailed(result)
  const current = await findAttestation(context.database.db, receipt_id)
  const attestation_status = current?.status === 'complete' ? 'complete' : 'computed'
  return { ok: true, receipt_id, ...result, attestation_status }
}

function anchorFailed({ error, reason }: PushResult): ServiceError {
  const hint = error?.ambiguous
    ? 'the transaction may still land: repeat the push, it looks for it first and pays for nothing twice'
    : error?.retryable
      ? 'the statement is kept and published later; to have it sooner, repeat the push'
      : 'the statement is kept; the operator of this gateway has to look at its registry'
  return new ServiceError('anchor_failed', `the statement could not be published: ${reason}`, {
    hint,
    details: { ...error },
  })
}

export const PUSH_ATTEMPTS = 12

/**
 * Throws a retryable error as it is, so that the queue repeats the job; a repeated push resolves what was sent first.
 * After the last attempt `watchPublications` goes on: the statement is on record as due.
 */
export async function runPushJob(
  { push, log }: Pick<Context, 'log' | 'push'>,
  receiptId: string,
  { isLast }: Pick<JobRun, 'isLast'>,
): Promise<void> {
  const { status, error } = await push(receiptId)
  if (status !== 'failed') return
  const problem = error?.error ?? 'not published'
  if (!error?.retryable) throw new PermanentError(problem)
  if (!isLast) throw new Error(problem)
  log.warn({ error: problem }, 'a statement could not be published; it stays due and is published later')
}
