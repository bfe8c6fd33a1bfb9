// The tables of a witness. Times are Unix seconds.

import type { AlarmKind } from '@svc/api/witness'
import type { Reader } from '@svc/database/open'
import type { Generated, Selectable, Transaction } from 'kysely'

export type Db = Reader<Schema>
export type Tx = Transaction<Schema>

export interface Schema {
  cosigned: CosignedTable
  alarms: AlarmTable
  monitored_logs: MonitoredLogTable
  monitored_chains: MonitoredChainTable
  left_out: LeftOutTable
}

/**
 * The last checkpoint of each log. Rows are never deleted: a log that is removed and added again must continue from
 * there.
 */
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

/** One alarm per cause. */
interface AlarmTable {
  id: Generated<number>
  origin: string
  kind: AlarmKind
  /** Distinguishes causes of one kind. */
  cause: string
  message: string
  /** A JSON array of texts. */
  evidence: string
  raised_at: number
  resolved_at: number | null
  /** When the webhook accepted it. */
  reported_at: Generated<number | null>
}

/** The progress of the monitor in each log. */
interface MonitoredLogTable {
  origin: string
  followed_at: number
  /** The newest accepted checkpoint; null before the first. */
  checkpoint: Generated<string | null>
  /** How many entries have been judged. */
  judged: number
  /** When the log was last observed to have no more than these entries; null until all have been judged once. */
  absent_at: Generated<number | null>
  /** Entries before this one are published on chain. */
  anchored: number
  /** The bundle of entries that is rechecked next. */
  rechecked: number
  /** The gateway's keys when it was first read, and the keys that they led to, as JSON; null before. */
  pinned: Generated<string | null>
  /** When the log was last read without a problem. */
  read_at: number
  problem: Generated<string | null>
}

/** The newest statement of each chain in a log. */
interface MonitoredChainTable {
  origin: string
  proof_id: string
  /** JSON. */
  envelope: string
}

/** Entries whose statements are in no chain: they were missing or invalid. */
interface LeftOutTable {
  id: Generated<number>
  origin: string
  digest: string
}

export type CosignedRow = Selectable<CosignedTable>
export type AlarmRow = Selectable<AlarmTable>
export type MonitoredLogRow = Selectable<MonitoredLogTable>
