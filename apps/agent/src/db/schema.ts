// The tables of the agent service. Times are Unix seconds; the tables of the queue and of the guard use their own
// units, which they document.

import type { Reader } from '@svc/database/open'
import type { QueueTables } from '@svc/database/queue/tables'
import type { GuardTables } from '@svc/service/guard/tables'
import type { Generated, Selectable, Transaction } from 'kysely'

export type Db = Reader<Schema>
export type Tx = Transaction<Schema>

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

/** A quote, which fixes the required payment. Paid quotes are never deleted. */
interface PayRequestTable {
  pay_req_id: string
  created_at: number
  expires_at: number
  /** The whole body of the 402 response. */
  quote: string
}
export type PayRequest = Selectable<PayRequestTable>

/** Network and transaction are unique: a transaction pays once. */
export interface ReceiptTable {
  receipt_id: string
  pay_req_id: string
  network: string
  tx: string
  identity: string
  /** The JSON of the signed receipt. */
  receipt: string
  subscription_id: string
  /** The subscription after this payment. */
  starts_at: number
  expires_at: number
}

/** One per identity, extended by each purchase. */
interface SubscriptionTable {
  identity: string
  subscription_id: string
  starts_at: number
  expires_at: number
}
export type SubscriptionRow = Selectable<SubscriptionTable>

/** At most one open delegation per receipt. */
interface DelegationTable {
  delegation_id: string
  identity: string
  receipt_id: string
  locker_id: string
  /** `paused` is not stored: it follows from the subscription. */
  state: 'pending' | 'active' | 'revoked' | 'ended'
  /** JSON. */
  tasks: string
  created_at: number
  registered_at: number | null
  ended_at: number | null
  /** When the registration of the key is checked next; null when no check is needed. */
  check_at: number | null
  /** How many consecutive checks found it unregistered. */
  checks: number
  /** When the tasks are next due; null without such a task, and while the delegation is not active. */
  mirror_at: number | null
  watch_at: number | null
  finding_count: number
  alert_count: number
  /** Digest of the last finding. */
  last_digest: string | null
}
export type DelegationRow = Selectable<DelegationTable>

/** One run of a task, however often it was interrupted. */
export interface RunTable {
  run_id: string
  delegation_id: string
  task: 'mirror' | 'watch'
  started_at: number
  finished_at: number | null
  outcome: 'running' | 'done' | 'failed' | 'stopped'
  /** JSON. */
  summary: string
  /** Findings of each kind so far, including those not listed in the log; JSON. */
  found: Generated<string>
}

/** The last state of a file that the watch recorded. */
export interface SeenFileTable {
  delegation_id: string
  filename: string
  /** The hash recorded by the gateway. */
  sha256: string
  size_bytes: number
  /** The last run that found the file. */
  run_id: string
  /** When its bytes were last read back; null for never. */
  read_at: number | null
  /** The problem of its bytes, so that it is reported once; null for none. */
  trouble: string | null
}

/** A statement of a locker that the watch recorded. */
export interface SeenStatementTable {
  delegation_id: string
  sequence: number
  digest: string
}

/** A mirrored source as it was last fetched. */
export interface MirrorTable {
  delegation_id: string
  filename: string
  url: string
  sha256: string | null
  /** The last run that tried to fetch it. */
  run_id: string
  fetched_at: number | null
  /** Why it was not fetched, so that a problem is reported once; null after success. */
  trouble: string | null
}

/** An entry of the signed log. Never changed or deleted. */
interface FindingTable {
  delegation_id: string
  sequence: number
  severity: 'info' | 'alert'
  /** The JSON of the signed finding. */
  finding: string
}

/** A finding that a webhook reports. Deleted after a while, unlike the finding. */
export interface DeliveryTable {
  delivery_id: string
  delegation_id: string
  sequence: number
  url: string
  created_at: number
  delivered_at: number | null
  /** The error of the last attempt. */
  error: string | null
}

/** What the SDK must remember: the keys of the gateway. */
interface JournalTable {
  key: string
  value: string
}
