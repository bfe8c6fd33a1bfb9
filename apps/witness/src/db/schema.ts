// The tables of a witness. Times are Unix seconds.

import type { AlarmKind } from '@svc/api/witness'
import type { Generated, Kysely, Selectable } from 'kysely'

export type Db = Kysely<Schema>

export interface Schema {
  cosigned: CosignedTable
  alarms: AlarmTable
}

/** The last checkpoint of each log. A row is never deleted: a log that comes back must go on from there. */
interface CosignedTable {
  origin: string
  /** SHA-256, hex. */
  origin_hash: string
  size: number
  /** Hex. */
  root: string
  /** The checkpoint with the signatures of its log and our cosignature. */
  note: string
  cosigned_at: number
}

/** Once for each cause. */
interface AlarmTable {
  id: Generated<number>
  origin: string
  kind: AlarmKind
  /** Tells causes of one kind apart. */
  cause: string
  message: string
  /** A JSON array of texts. */
  evidence: string
  raised_at: number
  resolved_at: number | null
}

export type CosignedRow = Selectable<CosignedTable>
export type AlarmRow = Selectable<AlarmTable>
