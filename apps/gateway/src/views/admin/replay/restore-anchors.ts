// Restores the transactions that publish statements and checkpoints of the log. The journal has most outcomes. Missing
// ones are read from the chain where they matter: a locker, and the log, may have one open transaction each.

import type { Anchor } from '@svc/api/attestations'
import { ChainUnavailable } from '@svc/payments/nodes/node-pool'
import { outcomesOf, type SolanaOutcome } from '@svc/payments/solana/outcome'
import { type Context, unixNow } from '../../../context.ts'
import type { LogAnchorDocument, PublicationDocument } from '../../../continuity/documents.ts'
import { publishedStatement } from '../../../continuity/statements.ts'
import { findOwnLog } from '../../../continuity/store.ts'
import type { Db, LogAnchorTable, PublicationTable, Tx } from '../../../db/schema.ts'
import { findStatement } from '../../../evidence/store.ts'
import { queueEntry } from '../../../publication/evm-registry/entries.ts'
import { recordLogAnchor } from '../../../publication/log-anchors/anchor-log.ts'
import {
  changeLogAnchor,
  findLogAnchor,
  insertLogAnchor,
  logAnchorsIn,
} from '../../../publication/log-anchors/store.ts'
import { recordOutcome } from '../../../publication/record-outcome.ts'
import {
  changePublication,
  findPublication,
  findSent,
  insertPublication,
  lockAttestationOf,
  setAnchor,
  setAttestationStatus,
} from '../../../publication/store.ts'
import type { Problem, Restored } from './restored.ts'

type AnchorDocument = PublicationDocument | LogAnchorDocument
type State = PublicationTable['state']

/** Whether the document has the outcome of its transaction. */
export function hasOutcome(document: AnchorDocument): boolean {
  if (document.kind === 'log_anchor') return document.anchor.state !== 'sent'
  const { state } = document.publication
  return state === 'failed' || state === 'expired' || (state !== 'sent' && Boolean(document.anchor))
}

/** A block may be dropped while it is not final. */
const FINALITY: Record<State, number> = { sent: 0, landed: 1, finalized: 2, failed: 2, expired: 2 }

export function restoreOutcome(context: Context, tx: Tx, document: AnchorDocument): Promise<Restored> {
  return document.kind === 'publication' ? restorePublished(context, tx, document) : restoreLogAnchored(tx, document)
}

async function restorePublished(
  context: Context,
  tx: Tx,
  { publication, anchor }: PublicationDocument,
): Promise<Restored> {
  const { state, fee_lamports, rent_lamports } = publication
  const known = await findPublication(tx, publication.tx)
  if (known && FINALITY[known.state] >= FINALITY[state]) return 'known'
  const orphan = await orphanOf(tx, publication)
  if (orphan) return orphan
  const attestation = await lockAttestationOf(tx, publication.receipt_id)
  if (known) await changePublication(tx, known, { state, fee_lamports, rent_lamports })
  else if (!(await insertPublication(tx, publication))) return { problem: doubled(publication) }
  const at = unixNow(context)
  if (anchor && (state === 'landed' || state === 'finalized')) {
    const landed = JSON.parse(anchor) as Anchor
    await setAnchor(tx, publication, landed)
    await setAttestationStatus(tx, attestation, publication, { status: 'complete', at, error: null })
    await queueEntry(tx, context, publication, landed.slot ?? 0)
  } else if (known) {
    const { receipt_id } = publication
    await setAnchor(tx, publication, null)
    await setAttestationStatus(tx, attestation, publication, { status: 'computed', at, error: null })
    if (context.primaryChain) await context.queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id })
  }
  return 'written'
}

async function restoreLogAnchored(tx: Tx, { anchor }: LogAnchorDocument): Promise<Restored> {
  const { state, slot, block_time, fee_lamports } = anchor
  const known = await findLogAnchor(tx, anchor.tx)
  if (known && FINALITY[known.state] >= FINALITY[state]) return 'known'
  const orphan = await logOrphanOf(tx, anchor)
  if (orphan) return orphan
  if (known) await changeLogAnchor(tx, known, { state, slot, block_time, fee_lamports })
  else if (!(await insertLogAnchor(tx, anchor))) return { problem: doubled(anchor) }
  return 'written'
}

/** The journal lacks the outcome; a job finds it later. This asks the chain, so it runs outside any transaction. */
export function restoreSent(context: Context, document: AnchorDocument): Promise<Restored> {
  return document.kind === 'publication'
    ? restorePublication(context, document.publication)
    : restoreLogAnchor(context, document.anchor)
}

async function restorePublication(context: Context, publication: PublicationTable): Promise<Restored> {
  const { db, commit } = context.database
  if (await findPublication(db, publication.tx)) return 'known'
  const orphan = await orphanOf(db, publication)
  if (orphan) return orphan
  return insertSent(context, publication, {
    insert: (state) => commit((tx) => insertPublication(tx, { ...publication, state })),
    findOpen: () => findSent(db, publication.receipt_id),
    record: (open, found) => recordOutcome(context, open, found),
  })
}

async function restoreLogAnchor(context: Context, anchor: LogAnchorTable): Promise<Restored> {
  const { db, commit } = context.database
  if (await findLogAnchor(db, anchor.tx)) return 'known'
  const orphan = await logOrphanOf(db, anchor)
  if (orphan) return orphan
  return insertSent(context, anchor, {
    insert: (state) => commit((tx) => insertLogAnchor(tx, { ...anchor, state })),
    findOpen: async () => (await logAnchorsIn(db, 'sent', 1))[0] ?? null,
    record: (open, found) => recordLogAnchor(context, open, found),
  })
}

type Sent = PublicationTable | LogAnchorTable
type Resolved = Exclude<SolanaOutcome, { outcome: 'pending' }>

interface Table<Row> {
  /** False if an open transaction, or another with the same content, is in the way. */
  insert(state: State): Promise<boolean>
  findOpen(): Promise<Row | null>
  record(open: Row, found: Resolved): Promise<unknown>
}

async function insertSent<Row extends Sent>(context: Context, row: Row, table: Table<Row>): Promise<Restored> {
  if (await table.insert('sent')) return 'written'
  const open = await table.findOpen()
  const found = await lookUp(context, open ?? row)
  if ('problem' in found) return found
  const { outcome } = found
  if (open) {
    await table.record(open, outcome)
    return (await table.findOpen())?.tx === open.tx ? unclear(open) : insertSent(context, row, table)
  }
  const isLost = outcome.outcome !== 'landed' && (await table.insert(outcome.outcome))
  return isLost ? 'written' : { problem: doubled(row) }
}

/** The outcome of a transaction. */
async function lookUp({ primaryChain, config }: Context, sent: Sent): Promise<{ outcome: Resolved } | Problem> {
  if (!primaryChain) {
    const setting = config.anchors.kind === 'off' ? 'ANCHORS is off' : 'PRIMARY_RPC_URLS is not set'
    return { problem: `${setting}: the transaction ${sent.tx} cannot be looked up` }
  }
  try {
    const [outcome] = await outcomesOf(primaryChain.nodes, [sent])
    return outcome && outcome.outcome !== 'pending' ? { outcome } : unclear(sent)
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    return {
      problem: `no node of PRIMARY_RPC_URLS reports the outcome of the transaction ${sent.tx}: ${error.message}`,
    }
  }
}

function unclear({ tx }: Sent): Problem {
  return { problem: `the outcome of the transaction ${tx} is not on the chain yet: replay again later` }
}

function doubled({ tx }: Sent): string {
  return `the transaction ${tx} publishes the same as another transaction of this database`
}

/** A transaction without its statement would hide that statement from a comparison with the chain. */
async function orphanOf(db: Db, publication: PublicationTable): Promise<Problem | null> {
  const { proofId, sequence, digest } = publishedStatement(publication)
  const statement = await findStatement(db, publication.receipt_id, publication.sequence)
  if (statement?.statement_digest === digest) return null
  return {
    problem: `the transaction ${publication.tx} publishes statement ${sequence} of ${proofId}, which is not in this database`,
  }
}

async function logOrphanOf(db: Db, { tx, size, payload }: LogAnchorTable): Promise<Problem | null> {
  const { origin, size: placed } = await findOwnLog(db)
  const { o } = JSON.parse(payload) as { o: string }
  if (origin !== null && origin !== o)
    return { problem: `the transaction ${tx} publishes the log ${o}, which has ended` }
  if (placed >= size) return null
  return { problem: `the transaction ${tx} publishes ${size} entries of the log, and this database has ${placed}` }
}
