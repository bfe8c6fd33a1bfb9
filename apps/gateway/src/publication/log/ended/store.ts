import type { Db, Tx } from '../../../db/schema.ts'
import { countPlaced } from '../store.ts'

/** All entries wait for a place again, in the order that they had. What was signed, cosigned and anchored is forgotten. */
export async function clearLog(tx: Tx): Promise<void> {
  const placed = await countPlaced(tx)
  await tx
    .updateTable('log_entries')
    .set(({ eb, ref }) => ({ position: eb(ref('entry_index'), '-', placed), entry_index: null }))
    .where('entry_index', 'is not', null)
    .execute()
  for (const table of ['log_checkpoints', 'log_cosignatures', 'log_witnesses', 'log_anchors'] as const)
    await tx.deleteFrom(table).execute()
}

/** A log of this database that went on under no name: what `svc-gateway replay --new-log` has noted of it. */
export interface EndedLog {
  origin: string
  vkey: string
  ended_at: string
  /** The last one that is known; and where another was published, that one, too. */
  checkpoints: string[]
}

/** The newest first. */
export async function endedLogs(db: Db): Promise<EndedLog[]> {
  const rows = await db
    .selectFrom('audit_log')
    .select(['at', 'details'])
    .where('target', '=', 'log')
    .where('action', '=', 'begin_log')
    .where('outcome', '=', 'done')
    .orderBy('sequence', 'desc')
    .execute()
  return rows.map(({ at, details }) => {
    const { origin, vkey, checkpoints } = JSON.parse(details) as Omit<EndedLog, 'ended_at'>
    return { origin, vkey, ended_at: at, checkpoints }
  })
}
