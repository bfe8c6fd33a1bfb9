// Publishes the newest statement of a receipt, once: its transaction is noted before it is sent, and after any doubt the
// chain is asked what became of it. Never is a second one sent while the first may still come (T-19).

import type { Anchor, PushResult } from '@svc/api/attestations'
import { singleFlight } from '@svc/concurrency/sharing'
import type { ServiceError } from '@svc/http-service/service-error'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { notAttested } from '../attestations/attest-errors.ts'
import type { Publishing, Push } from '../attestations/publishing.ts'
import type { AttestationRecord } from '../attestations/record.ts'
import { findAttestation, findRecord } from '../attestations/store.ts'
import { type Context, unixNow } from '../context.ts'
import type { Db, PublicationTable } from '../db/schema.ts'
import { newPublication } from './new-publication.ts'
import { ChainUnavailable } from './publication-nodes.ts'
import type { Publisher } from './publisher.ts'
import { anchorError, NotPublished } from './push-errors.ts'
import { recordNotSent } from './record-fate.ts'
import { settle, watchTransaction } from './settle.ts'
import { findAnchor, findSent, insertPublication, lockStanding, type Statement, setStanding } from './store.ts'

type Parts = Pick<Context, 'database' | 'config' | 'now'> & Pick<Publishing, 'queueEntry'>
type Publishable = AttestationRecord & { record: { envelope: EvidenceEnvelope } }

const SKIPPED: PushResult = {
  status: 'skipped',
  anchor: null,
  anchor_type: null,
  reason: 'no_feed_configured',
  error: null,
}

/** A chain that stands still has the same transaction signed again and again, which is noted once. */
const MOST_SENDS = 3

export function createPush(parts: Parts, publisher: Publisher | null): Push {
  const { db } = parts.database
  const share = singleFlight<PushResult | null>()

  return async function push(receiptId): Promise<PushResult> {
    const record = await findRecord(db, receiptId)
    if (!record || !isPublishable(record)) throw await nothingToPublish(receiptId)
    if (record.anchor) return published('already_anchored', record.anchor)
    if (!publisher) return SKIPPED
    const result = await share(`${receiptId} ${record.sequence}`, () => publish(publisher, record))
    return result ?? push(receiptId)
  }

  async function nothingToPublish(receiptId: string): Promise<ServiceError> {
    const known = await findAttestation(db, receiptId)
    return notAttested(receiptId, { isPending: known?.status === 'pending' })
  }

  /** Null when there is a newer statement, which is to be published instead. */
  async function publish(publisher: Publisher, { receiptId, sequence, record }: Publishable) {
    const statement = { receipt_id: receiptId, sequence }
    try {
      for (let sends = 0; ; sends++) {
        const problem = await settleSent(publisher, statement, { isNew: sends > 0 })
        const anchor = await findAnchor(db, statement)
        if (anchor) return published('pushed', anchor)
        if (problem && sends > 0) throw problem
        if (sends === MOST_SENDS) throw new NotPublished('transaction_refused', 'the chain offers no newer blockhash')
        if ((await send(publisher, statement, record.envelope)) === 'superseded') return null
      }
    } catch (error) {
      return failed(statement, problemOf(error))
    }
  }

  /** Why what was sent for this statement is lost; null when nothing was, or it has landed. An earlier one has its turn. */
  async function settleSent(publisher: Publisher, statement: Statement, { isNew }: { isNew: boolean }) {
    const sent = await findSent(db, statement.receipt_id)
    if (!sent) return null
    // Whoever noted it may have been cut off before it was sent. The same again does no harm.
    if (!isNew) await publisher.nodes.send(sent.raw)
    const fate = await watchTransaction(publisher.nodes, sent, parts.config.anchors.waitSeconds)
    const problem = await settle(parts, publisher.nodes, sent, fate)
    const isOwn = sent.sequence === statement.sequence
    if (problem?.isAmbiguous) throw isOwn ? problem : earlierOpen()
    return isOwn ? problem : null
  }

  /** Nothing is sent when somebody else was first, which may be just why the chain would not take ours. */
  async function send(publisher: Publisher, statement: Statement, envelope: EvidenceEnvelope) {
    const publication = await newPublication(publisher, statement, envelope, unixNow(parts)).catch(async (error) => {
      if (await isUnderWay(statement)) return null
      throw error
    })
    if (!publication) return 'taken'
    const noted = await notePublication(db, publication)
    if (noted === 'noted') await publisher.nodes.send(publication.raw)
    return noted
  }

  async function isUnderWay(statement: Statement): Promise<boolean> {
    return (await findSent(db, statement.receipt_id)) !== null || (await findAnchor(db, statement)) !== null
  }

  /** What was sent has its outcome on record already. */
  async function failed(statement: Statement, problem: NotPublished): Promise<PushResult> {
    if (problem.tx === null) await recordNotSent(parts, statement, problem)
    const anchor = await findAnchor(db, statement)
    if (anchor) return published('pushed', anchor)
    const error = anchorError(problem, unixNow(parts))
    return { status: 'failed', anchor: null, anchor_type: null, reason: problem.reason, error }
  }
}

/** Written down before it is sent: whatever happens then, somebody will know what to look for. */
function notePublication(db: Db, publication: PublicationTable): Promise<'noted' | 'taken' | 'superseded'> {
  const { receipt_id, sequence, sent_at } = publication
  return db.transaction().execute(async (tx) => {
    const standing = await lockStanding(tx, receipt_id)
    if (standing.sequence !== sequence) return 'superseded'
    if (!(await insertPublication(tx, publication))) return 'taken'
    await setStanding(tx, publication, { status: 'pushing', at: sent_at, error: null })
    return 'noted'
  })
}

/** Records of the oracle era have no statement that could be published. */
function isPublishable(record: AttestationRecord): record is Publishable {
  return record.record.envelope !== undefined
}

function published(status: 'pushed' | 'already_anchored', anchor: Anchor): PushResult {
  return { status, anchor, anchor_type: anchor.type, reason: null, error: null }
}

function earlierOpen(): NotPublished {
  return new NotPublished('earlier_statement_open', 'the transaction of an earlier statement may still come')
}

function problemOf(error: unknown): NotPublished {
  if (error instanceof NotPublished) return error
  if (error instanceof ChainUnavailable) return new NotPublished('rpc_unavailable', error.message)
  throw error
}
