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
  /** When the webhook took it. */
  reported_at: Generated<number | null>
}

/** How far the monitor has followed each log. */
interface MonitoredLogTable {
  origin: string
  followed_at: number
  /** The newest that was accepted; null before the first. */
  checkpoint: Generated<string | null>
  /** How many entries have been judged. */
  judged: number
  /** When the log was seen to have no more than these; null before all have been judged once. */
  absent_at: Generated<number | null>
  /** Entries before this one are published on chain. */
  anchored: number
  /** The bundle of entries that is looked at again next. */
  rechecked: number
  /** What the gateway said of its keys when it was first seen, and which keys they led to, as JSON; null before. */
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

/** Entries whose statements are in no chain: they were not shown, or were wrong. */
interface LeftOutTable {
  id: Generated<number>
  origin: string
  digest: string
}

export type CosignedRow = Selectable<CosignedTable>
export type AlarmRow = Selectable<AlarmTable>
export type MonitoredLogRow = Selectable<MonitoredLogTable>
