// The proof that a statement is in the log, and the interface of the log for other modules.

import type { LogAnchor } from '@svc/api/log'
import { ROLES } from '@svc/api/networks'
import type { NoteKey } from '@svc/protocol/transparency/note'
import { formatProof } from '@svc/protocol/transparency/proof'
import { proveInclusion } from '@svc/protocol/transparency/prove'
import type { Db, LogAnchorTable } from '../../db/schema.ts'
import type { PublishedLog } from './published.ts'
import { findEntry, newestQuorum, oldestAnchored } from './store.ts'

export interface TransparencyLog {
  /** The key that signs the checkpoints; its name is the origin. */
  key: NoteKey
  /** What others pin: this log and the logs that it replaced. */
  listed: NamedLog[]
  /** The newest published checkpoint with its cosignatures; null before the first. */
  checkpoint(): Promise<string | null>
  /** Null while no published checkpoint covers the statement, or the log is unreadable. */
  proof(statementDigest: string): Promise<LoggedStatement | null>
}

interface NamedLog {
  origin: string
  vkey: string
}

export interface LoggedStatement {
  index: number
  /** The text of the tlog-proof. */
  proof: string
  /** The anchor of the checkpoint in the proof. */
  anchor: LogAnchor | null
}

export async function proveStatement(
  { database: { db }, publishedLog }: { database: { db: Db }; publishedLog: PublishedLog },
  statementDigest: string,
): Promise<LoggedStatement | null> {
  const index = (await findEntry(db, statementDigest))?.entry_index ?? null
  const chosen = index === null ? null : await chooseCheckpoint(db, publishedLog, index)
  if (index === null || !chosen) return null
  const hashes = await proveInclusion(index, chosen.size, publishedLog.coveredTile)
  return { index, proof: formatProof(index, hashes, chosen.note), anchor: chosen.anchor }
}

interface ChosenCheckpoint {
  size: number
  /** With all its signatures. */
  note: string
  anchor: LogAnchor | null
}

/**
 * Selects the checkpoint for the proof: the oldest anchored one, so that a verifier needs one checkpoint for many
 * proofs; otherwise the newest one with enough cosignatures; otherwise the newest one. Null while none covers the
 * entry.
 */
async function chooseCheckpoint(db: Db, published: PublishedLog, index: number): Promise<ChosenCheckpoint | null> {
  const known = await published.checkpoint()
  const newest = known && known.size > index ? known : await published.newest()
  if (!newest || newest.size <= index) return null
  const range = { above: index, upTo: newest.size }
  const anchored = await oldestAnchored(db, range)
  if (anchored) return { size: anchored.size, note: signedText(anchored), anchor: logAnchorOf(anchored) }
  const cosigned = await newestQuorum(db, range)
  if (cosigned) return { size: cosigned.size, note: signedText(cosigned), anchor: null }
  return { size: newest.size, note: newest.text, anchor: null }
}

function signedText({ note, lines }: { note: string; lines: string | null }): string {
  return note + (lines ?? '')
}

/** The anchor of a checkpoint as responses show it, once it is on chain. */
export function logAnchorOf({ tx, slot, block_time, signer, payload, state }: LogAnchorTable): LogAnchor {
  const finalized = state === 'finalized'
  return {
    chain: ROLES.publication.caip2,
    tx,
    slot,
    block_time,
    signer,
    payload: JSON.parse(payload),
    commitment: finalized ? 'finalized' : 'confirmed',
    finalized,
  }
}
