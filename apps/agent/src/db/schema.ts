// The tables of the agent service. Times are Unix seconds; the tables of the queue and of the guard have units of their
// own and say so.

import type { GuardTables } from '@svc/guard/tables'
import type { QueueTables } from '@svc/queue/tables'
import type { Generated, Kysely, Selectable } from 'kysely'

export type Db = Kysely<Schema>

export interface Schema extends QueueTables, GuardTables {
  pay_requests: PayRequestTable
  receipts: ReceiptTable
  subscriptions: SubscriptionTable
  delegations: DelegationTable
  runs: RunTable
  seen_files: SeenFileTable
  seen_statements: SeenStatementTable
  mirrors: MirrorTable
  findings: FindingTable
  deliveries: DeliveryTable
  journal: JournalTable
}

/** A quote: it fixes what a payment must be. One that was paid is kept for ever. */
interface PayRequestTable {
  pay_req_id: string
  created_at: number
  expires_at: number
  /** The whole body of the 402, as it was answered. */
  quote: string
}
export type PayRequest = Selectable<PayRequestTable>

/** A transaction of a chain pays once: network and transaction are unique. */
export interface ReceiptTable {
  receipt_id: string
  pay_req_id: string
  network: string
  tx: string
  identity: string
  /** The signed receipt, JSON. */
  receipt: string
  subscription_id: string
  /** The subscription as this payment left it. */
  starts_at: number
  expires_at: number
}

/** One for each identity, prolonged by each purchase. */
interface SubscriptionTable {
  identity: string
  subscription_id: string
  starts_at: number
  expires_at: number
}
export type SubscriptionRow = Selectable<SubscriptionTable>

/** One that has not ended for each receipt. */
interface DelegationTable {
  delegation_id: string
  identity: string
  receipt_id: string
  locker_id: string
  /** `paused` is none of these: that follows from the subscription. */
  state: 'pending' | 'active' | 'revoked' | 'ended'
  /** JSON. */
  tasks: string
  created_at: number
  registered_at: number | null
  ended_at: number | null
  /** When it is next looked whether the key is registered; null once nothing more can come of it. */
  check_at: number | null
  /** How often in a row it was not. */
  checks: number
  /** When the tasks are next due; null for tasks it does not have, and while it is not active. */
  mirror_at: number | null
  watch_at: number | null
  finding_count: number
  alert_count: number
  /** Digest of the last finding. */
  last_digest: string | null
}
export type DelegationRow = Selectable<DelegationTable>

/** One run of a task; what was cut off and begun again is one run. */
export interface RunTable {
  run_id: string
  delegation_id: string
  task: 'mirror' | 'watch'
  started_at: number
  finished_at: number | null
  outcome: 'running' | 'done' | 'failed' | 'stopped'
  /** JSON. */
  summary: string
  /** How many findings of each kind there were so far, also those that are no entries of the log; JSON. */
  found: Generated<string>
}

/** A file as the watch saw it last. */
export interface SeenFileTable {
  delegation_id: string
  filename: string
  /** As the gateway recorded it. */
  sha256: string
  size_bytes: number
  /** The run that saw it last. */
  run_id: string
  /** When its bytes were last read back; null for not yet. */
  read_at: number | null
  /** What is wrong with its bytes, so that one trouble is one finding; null for nothing. */
  trouble: string | null
}

/** The statements of a locker as the watch saw them. */
export interface SeenStatementTable {
  delegation_id: string
  sequence: number
  digest: string
}

/** A mirrored address as it was fetched last. */
export interface MirrorTable {
  delegation_id: string
  filename: string
  url: string
  sha256: string | null
  /** The run that fetched it last, or failed to. */
  run_id: string
  fetched_at: number | null
  /** Why it was not fetched, so that one trouble is one finding; null for nothing. */
  trouble: string | null
}

/** An entry of the signed log. Never changed, never removed. */
interface FindingTable {
  delegation_id: string
  sequence: number
  severity: 'info' | 'alert'
  /** The signed finding, JSON. */
  finding: string
}

/** A finding that is to be told to an address; forgotten after a while, unlike the finding. */
export interface DeliveryTable {
  delivery_id: string
  delegation_id: string
  sequence: number
  url: string
  created_at: number
  delivered_at: number | null
  /** Of the last attempt. */
  error: string | null
}

/** What the SDK must not forget: the keys of the gateway. */
interface JournalTable {
  key: string
  value: string
}
