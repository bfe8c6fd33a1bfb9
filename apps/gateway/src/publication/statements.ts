// Publishes statements on the primary chain, each with its digest in a memo and, if configured, in the attestation
// registry.

import type { Anchor, AnchorAbsence, PushResult } from '@svc/api/attestations'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { outcomesOf, type SolanaOutcome, watchTransaction } from '@svc/payments/solana/outcome'
import { type EvidenceEnvelope, isoSeconds } from '@svc/protocol/evidence'
import { DAY, type Refusal } from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'
import { anchorKey } from '../continuity/documents.ts'
import type { PublicationTable, Tx } from '../db/schema.ts'
import type { AttestationRecord } from '../evidence/record.ts'
import { documentIdsOf } from '../evidence/statements.ts'
import { findAttestation } from '../evidence/store.ts'
import { anchorError, NotPublished } from './errors.ts'
import type { PreparedPublication, PrimaryChain } from './primary-chain.ts'
import { type Attempt, delayOf, limitsOf, type Publisher, publish } from './publisher.ts'
import { recordNotSent, recordOutcome } from './record-outcome.ts'
import {
  claimDuePush,
  deletePublication,
  documentsOfSent,
  duePushes,
  findAnchor,
  findSent,
  insertPublication,
  lockAttestationOf,
  pageOfPublications,
  type Statement,
  setAttestationStatus,
  setDeferral,
} from './store.ts'

/** Nodes answer for at most this many signatures at a time. */
const AT_ONCE = 256
/** Longer than a push waits: after that it has stopped or timed out. */
const GRACE_SECONDS = 5

export const STATEMENTS: Publisher<PublicationTable, SolanaOutcome> = {
  job: 'watch-publications',
  seconds: 15,
  isOn: ({ primaryChain }) => primaryChain !== null,
  open(context) {
    const sentBefore = unixNow(context) - context.config.anchors.waitSeconds - GRACE_SECONDS
    return pageOfPublications(context.database.db, 'sent', { sentBefore, limit: AT_ONCE })
  },
  landed: (context) =>
    pageOfPublications(context.database.db, 'landed', { sentBefore: unixNow(context), limit: AT_ONCE }),
  outcomes: ({ primaryChain }, sent) => outcomesOf(primaryChain!.nodes, sent),
  documentsOf: documentsOfSent,
  send: ({ primaryChain }, { raw }) => primaryChain!.nodes.send(raw),
  waitFor: ({ primaryChain, config }, sent) =>
    watchTransaction(primaryChain!.nodes, sent, config.anchors.waitSeconds * 1000),
  record: recordOutcome,
  publishDue: queueDuePushes,
}

/** Jobs of the queue run beside others; this many finish long before the next run. */
const PUSHES_AT_ONCE = 100

/** Queues due statements again, even if the job that should have published them failed or is missing. */
async function queueDuePushes(context: Context): Promise<void> {
  const { database, queue } = context
  const now = unixNow(context)
  for (const { receipt_id } of await duePushes(database.db, now, PUSHES_AT_ONCE)) {
    await database.commit(async (tx) => {
      if (!(await claimDuePush(tx, receipt_id, now))) return
      await queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id, maxAttempts: 1 })
    })
  }
}

export type Publishable = AttestationRecord & { record: { envelope: EvidenceEnvelope } }

/** Returns `superseded` if a newer statement must be published instead. */
export async function publishStatement(
  context: Context,
  primaryChain: PrimaryChain,
  { receiptId, sequence, record }: Publishable,
): Promise<PushResult | 'superseded'> {
  const statement = { receipt_id: receiptId, sequence }
  try {
    return await publish(context, STATEMENTS, attemptOf(context, primaryChain, statement, record))
  } catch (error) {
    return failed(context, statement, problemOf(error))
  }
}

/** While the newest blockhash is unchanged, signing again gives the same transaction, which is recorded once. */
const MAX_ROUNDS = 3

function attemptOf(
  context: Context,
  primaryChain: PrimaryChain,
  statement: Statement,
  record: Publishable['record'],
): Attempt<PreparedPublication, PublicationTable, PushResult | 'superseded'> {
  const { db } = context.database
  const { receipt_id, sequence } = statement
  const account = { budget: 'publication', limits: limitsOf(context, 'anchor', receipt_id) } as const
  return {
    account,
    findSent: () => findSent(db, receipt_id),
    async result({ sent, problem, round }) {
      const isOwn = sent?.sequence === sequence
      if (problem instanceof NotPublished && problem.isAmbiguous) throw isOwn ? problem : earlierStatementOpen()
      const anchor = await findAnchor(db, statement)
      if (anchor) return published('pushed', anchor)
      if (problem && isOwn && round > 0) throw problem
      if (round > 0 && (await findAttestation(db, receipt_id))?.sequence !== sequence) return 'superseded'
      if (round === MAX_ROUNDS) throw new NotPublished('transaction_refused', 'the chain offers no newer blockhash')
      return null
    },
    async sign() {
      try {
        return await primaryChain.prepareStatement(statement, record.envelope, unixNow(context))
      } catch (error) {
        // The simulation may have failed because another process was first.
        if ((await findSent(db, receipt_id)) || (await findAnchor(db, statement))) return null
        throw error
      }
    },
    async insert(tx, { publication }) {
      const attestation = await lockAttestationOf(tx, receipt_id)
      return attestation.sequence === sequence && insertPublication(tx, publication)
    },
    /** A deposit is not a fee: lockers that open accounts leave the daily budget for fees to others. */
    costs({ publication: { tx }, fee, deposit }) {
      const limits = [{ who: `deposit ${receipt_id}`, count: 0, seconds: DAY }]
      return [
        { ...account, tx, amount: fee },
        ...(deposit === 0 ? [] : [{ budget: 'registry_rent' as const, limits, tx, amount: deposit }]),
      ]
    },
    async recorded(tx, { publication }, recordDocuments) {
      const attestation = await lockAttestationOf(tx, receipt_id)
      await setAttestationStatus(tx, attestation, statement, {
        status: 'pushing',
        at: publication.sent_at,
        error: null,
      })
      recordDocuments({ kind: 'publication', key: anchorKey(publication.tx, 'sent') })
    },
    remove: (tx, { publication }) => deletePublication(tx, publication.tx),
    defer: (tx, refusal) => deferPush(tx, context, statement, refusal),
    async send({ publication }) {
      // Another process may have made the statement and stopped before it was in the journal.
      await context.continuity.requireWritten(...documentIdsOf({ record }))
      await primaryChain.nodes.send(publication.raw)
    },
  }
}

/**
 * Records why the statement waits, together with a job that publishes the newest statement at that time. Null if
 * another process has just sent a transaction of the receipt.
 */
async function deferPush(
  tx: Tx,
  context: Context,
  statement: Statement,
  refusal: Refusal,
): Promise<'superseded' | PushResult | null> {
  const { receipt_id, sequence } = statement
  const attestation = await lockAttestationOf(tx, receipt_id)
  if (attestation.sequence !== sequence) return 'superseded'
  if (attestation.status === 'complete' || (await findSent(tx, receipt_id))) return null
  const { reason, until } = refusal
  const deferral: AnchorAbsence = { reason, publish_after: isoSeconds(until) }
  if (attestation.deferral !== JSON.stringify(deferral))
    await setDeferral(tx, statement, { deferral, at: unixNow(context) })
  const delaySeconds = delayOf(context, refusal)
  await context.queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id, delaySeconds })
  return { ...deferral, status: 'deferred', reason, anchor: null, anchor_type: null, error: null }
}

/** Records the failure of a push that sent nothing; the outcome of a sent transaction is already recorded. */
async function failed(context: Context, statement: Statement, problem: NotPublished): Promise<PushResult> {
  if (problem.tx === null) await recordNotSent(context, statement, problem)
  const anchor = await findAnchor(context.database.db, statement)
  if (anchor) return published('pushed', anchor)
  const error = anchorError(problem, unixNow(context))
  return { status: 'failed', anchor: null, anchor_type: null, reason: problem.reason, error }
}

export function published(status: 'pushed' | 'already_anchored', anchor: Anchor): PushResult {
  return { status, anchor, anchor_type: anchor.type, reason: null, error: null }
}

function earlierStatementOpen(): NotPublished {
  return new NotPublished('earlier_statement_open', 'the transaction of an earlier statement may still land')
}

function problemOf(error: unknown): NotPublished {
  if (error instanceof NotPublished) return error
  if (error instanceof ChainUnavailable) return new NotPublished('rpc_unavailable', error.message)
  throw error
}
