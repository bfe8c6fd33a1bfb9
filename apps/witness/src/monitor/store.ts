// Queries of the monitor: its progress in each log, and the newest statement of every chain.

import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { Db, MonitoredLogRow, Tx } from '../db/schema.ts'
import { causeOf } from './entry-alarms.ts'
import type { Heads } from './judge-statements.ts'

/** Begins at this time, unless the log is already followed. */
export async function progressOf(tx: Tx, origin: string, now: number): Promise<MonitoredLogRow> {
  await tx
    .insertInto('monitored_logs')
    .values({ origin, followed_at: now, read_at: now, judged: 0, anchored: 0, rechecked: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return tx.selectFrom('monitored_logs').selectAll().where('origin', '=', origin).executeTakeFirstOrThrow()
}

export function allProgress(db: Db): Promise<MonitoredLogRow[]> {
  return db.selectFrom('monitored_logs').selectAll().orderBy('origin').execute()
}

export async function saveProgress(
  tx: Tx,
  origin: string,
  change: Partial<Omit<MonitoredLogRow, 'origin' | 'followed_at'>>,
): Promise<void> {
  await tx.updateTable('monitored_logs').set(change).where('origin', '=', origin).execute()
}

export async function findHeads(db: Db, origin: string, proofIds: readonly string[]): Promise<Heads> {
  const rows = await db
    .selectFrom('monitored_chains')
    .select(['proof_id', 'envelope'])
    .where('origin', '=', origin)
    .where('proof_id', 'in', proofIds)
    .execute()
  return new Map(rows.map(({ proof_id, envelope }) => [proof_id, JSON.parse(envelope) as EvidenceEnvelope]))
}

export async function saveHeads(tx: Tx, origin: string, heads: Heads): Promise<void> {
  if (heads.size === 0) return
  await tx
    .insertInto('monitored_chains')
    .values([...heads].map(([proof_id, envelope]) => ({ origin, proof_id, envelope: JSON.stringify(envelope) })))
    .onConflict((conflict) =>
      conflict.columns(['origin', 'proof_id']).doUpdateSet((row) => ({ envelope: row.ref('excluded.envelope') })),
    )
    .execute()
}

/** Per log. Beyond this limit, the oldest ones are deleted (T-106). */
const MAX_LEFT_OUT = 100_000

/** Which of these digests are in no chain. */
export async function findLeftOut(db: Db, origin: string, digests: readonly string[]): Promise<Set<string>> {
  const query = db.selectFrom('left_out').select('digest').where('origin', '=', origin)
  const rows = await query.where('digest', 'in', digests.map(causeOf)).execute()
  return new Set(rows.map(({ digest }) => digest))
}

export async function saveLeftOut(tx: Tx, origin: string, digests: readonly string[]): Promise<void> {
  if (digests.length === 0) return
  await tx
    .insertInto('left_out')
    .values(digests.map((digest) => ({ origin, digest: causeOf(digest) })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const ofLog = tx.selectFrom('left_out').select('id').where('origin', '=', origin).orderBy('id', 'desc')
  const surplus = await ofLog.offset(MAX_LEFT_OUT).limit(1).executeTakeFirst()
  if (surplus) await tx.deleteFrom('left_out').where('origin', '=', origin).where('id', '<=', surplus.id).execute()
}
