// The proof that a statement is in the log, and the log as other rooms know it.

import type { LogAnchor } from '@svc/api/log'
import { ROLES } from '@svc/api/networks'
import type { NoteKey } from '@svc/protocol/transparency/note'
import { formatProof } from '@svc/protocol/transparency/proof'
import { proveInclusion } from '@svc/protocol/transparency/prove'
import type { Db, LogAnchorTable } from '../../db/schema.ts'
import type { PublishedLog } from './published.ts'
import { findEntry, newestQuorum, oldestAnchored } from './store.ts'

export interface TransparencyLog {
  /** Whose checkpoints these are; its name is the origin. */
  key: NoteKey
  /** What others pin: this log, and those that it took the place of. */
  listed: NamedLog[]
  /** The newest published checkpoint with its cosignatures; null before the first. */
  checkpoint(): Promise<string | null>
  /** Null while no published checkpoint has the statement, or the log cannot be read. */
  proof(statementDigest: string): Promise<LoggedStatement | null>
}

interface NamedLog {
  origin: string
  vkey: string
}

export interface LoggedStatement {
  index: number
  /** The text of tlog-proof. */
  proof: string
  /** Of the checkpoint in the proof. */
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
 * The checkpoint that the entry is proven in: the oldest that is anchored, so that one checkpoint serves for all that a
 * verifier asks; else the newest that enough witnesses have cosigned; else the newest. Null while none has the entry.
 */
async function chooseCheckpoint(db: Db, published: PublishedLog, index: number): Promise<ChosenCheckpoint | null> {
  const known = await published.checkpoint()
  const newest = known && known.size > index ? known : await published.newest()
  if (!newest || newest.size <= index) return null
  const range = { above: index, upTo: newest.size }
  const anchored = await oldestAnchored(db, range)
  if (anchored) return { size: anchored.size, note: noteOf(anchored), anchor: logAnchorOf(anchored) }
  const cosigned = await newestQuorum(db, range)
  if (cosigned) return { size: cosigned.size, note: noteOf(cosigned), anchor: null }
  return { size: newest.size, note: newest.text, anchor: null }
}

function noteOf({ note, lines }: { note: string; lines: string | null }): string {
  return note + (lines ?? '')
}

/** How the anchor of a checkpoint is shown, once it is on chain. */
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
