// What the monitor knows: how far it has followed each log, and the newest statement of every chain.

import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { Kysely } from 'kysely'
import type { Schema } from '../db/schema.ts'
import type { ChainHead } from './judge-statements.ts'

/** How far a log has been followed. Times are Unix seconds. */
export interface Progress {
  origin: string
  followed_at: number
  /** The newest that was accepted; null before the first. */
  checkpoint: string | null
  /** How many entries have been judged. */
  judged: number
  /** When the log was seen to have no more than these; null before all have been judged once. */
  absent_at: number | null
  /** Entries before this one are published on chain. */
  anchored: number
  /** The bundle of entries that is looked at again next. */
  rechecked: number
  /** What the gateway said of its keys when it was first seen; null before. */
  pinned: string | null
  /** When the log was last read without a problem. */
  read_at: number
  problem: string | null
}

type Db = Kysely<Schema>

/** From now on, unless it is known already. */
export async function progressOf(db: Db, origin: string, now: number): Promise<Progress> {
  await db
    .insertInto('monitored_logs')
    .values({ origin, followed_at: now, read_at: now, judged: 0, anchored: 0, rechecked: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return db.selectFrom('monitored_logs').selectAll().where('origin', '=', origin).executeTakeFirstOrThrow()
}

export function allProgress(db: Db): Promise<Progress[]> {
  return db.selectFrom('monitored_logs').selectAll().orderBy('origin').execute()
}

export async function saveProgress(db: Db, origin: string, change: Partial<Omit<Progress, 'origin'>>): Promise<void> {
  await db.updateTable('monitored_logs').set(change).where('origin', '=', origin).execute()
}

export async function findHeads(
  db: Db,
  origin: string,
  proofIds: readonly string[],
): Promise<Map<string, ChainHead>> {
  const rows = await db
    .selectFrom('monitored_chains')
    .select(['proof_id', 'entry_index', 'envelope'])
    .where('origin', '=', origin)
    .where('proof_id', 'in', proofIds)
    .execute()
  return new Map(
    rows.map(({ proof_id, entry_index, envelope }) => {
      return [proof_id, { proofId: proof_id, index: entry_index, envelope: JSON.parse(envelope) as EvidenceEnvelope }]
    }),
  )
}

export async function saveHeads(db: Db, origin: string, heads: Iterable<ChainHead>): Promise<void> {
  const rows = [...heads].map(({ proofId, index, envelope }) => {
    return { origin, proof_id: proofId, entry_index: index, envelope: JSON.stringify(envelope) }
  })
  if (rows.length === 0) return
  await db
    .insertInto('monitored_chains')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['origin', 'proof_id']).doUpdateSet((row) => ({
        entry_index: row.ref('excluded.entry_index'),
        envelope: row.ref('excluded.envelope'),
      })),
    )
    .execute()
}
