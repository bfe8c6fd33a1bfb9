// Queries for cosigned checkpoints.

import { fromHex, toHex, utf8 } from '@svc/protocol/bytes'
import { sha256Bytes } from '@svc/protocol/sha256'
import type { Checkpoint } from '@svc/protocol/transparency/checkpoint'
import type { TreeHead } from '@svc/protocol/transparency/tree'
import type { CosignedRow, Db, Tx } from '../db/schema.ts'

export interface Cosigned extends TreeHead {
  note: string
}

/** Null for a log without a cosigned checkpoint. */
export async function findCosigned(db: Db, origin: string): Promise<Cosigned | null> {
  const row = await db
    .selectFrom('cosigned')
    .select(['size', 'root', 'note'])
    .where('origin', '=', origin)
    .executeTakeFirst()
  return row ? { size: row.size, root: fromHex(row.root)!, note: row.note } : null
}

/** Call in the transaction that compared it with the previous checkpoint. */
export async function saveCosigned(
  tx: Tx,
  { origin, size, root }: Checkpoint,
  { note, cosignedAt }: { note: string; cosignedAt: number },
): Promise<void> {
  const head = { size, root: toHex(root), note, cosigned_at: cosignedAt }
  await tx
    .insertInto('cosigned')
    .values({ origin, origin_hash: toHex(sha256Bytes(utf8(origin))), ...head })
    .onConflict((conflict) => conflict.column('origin').doUpdateSet(head))
    .execute()
}

export async function findCosignedNote(db: Db, originHash: string): Promise<string | null> {
  const query = db.selectFrom('cosigned').select('note').where('origin_hash', '=', originHash)
  return (await query.executeTakeFirst())?.note ?? null
}

export function listCosigned(db: Db): Promise<CosignedRow[]> {
  return db.selectFrom('cosigned').selectAll().execute()
}
