// The documents that the journal stores: what this gateway has given to others, with everything the database has about
// it. A commit records their names; after it, they are read from the database and written to the journal.

import type { Anchor } from '@svc/api/attestations'
import { networkNamed } from '@svc/api/networks'
import { prepared } from '@svc/database/prepared'
import { DatabaseUnavailable } from '@svc/database/unavailable'
import type { Selectable } from 'kysely'
import { openChunkList } from '../db/chunk-list.ts'
import type {
  Db,
  Locker,
  LogAnchorTable,
  LogCheckpointTable,
  PaymentAuthorizationTable,
  PaymentTransactionTable,
  PayRequestTable,
  PublicationTable,
  QuoteTemplateTable,
  ReceiptTable,
  RefundTable,
  RenewalTable,
  RevocationTable,
  SnapshotChunkTable,
  SnapshotTable,
  StatementTable,
  UnclaimedPaymentTable,
} from '../db/schema.ts'
import { type AccessChange, parseAccessChange } from './access-changes.ts'
import type { DocumentId } from './document-id.ts'

export interface ReceiptDocument {
  kind: 'receipt'
  /** The receipt id. */
  key: string
  receipt: Selectable<ReceiptTable>
  /** Null for an imported receipt. */
  quote: PayRequestTable | null
  /** The template of the quote, if the quote was made from one. */
  template: QuoteTemplateTable | null
  payment: PaymentTransactionTable | null
  authorizations: PaymentAuthorizationTable[]
  renewal: RenewalTable | null
}

export interface RefundDocument {
  kind: 'refund'
  /**
   * Network, transaction, position, and the transaction that refunds it. The decision to refund is a separate document.
   */
  key: string
  refund: RefundTable
  payment: PaymentTransactionTable
}

/** A payment recorded for refund, after its payer has learned of that. */
export interface UnclaimedDocument {
  kind: 'unclaimed'
  /** Network, transaction and asset. */
  key: string
  unclaimed: UnclaimedPaymentTable
}

/** An opened locker, without its files. */
export interface LockerDocument {
  kind: 'locker'
  /** The locker id. */
  key: string
  locker: Locker
}

/** A change of access to a locker, or of the keys that sign. */
export interface AccessDocument {
  kind: 'access'
  /** Random: the id of its row in the database. */
  key: string
  /** Unix seconds. */
  changedAt: number
  change: AccessChange
}

export interface StatementDocument {
  kind: 'statement'
  /** The digest of the statement. */
  key: string
  proofId: string
  statement: StatementTable
  /** Bytes in base64. */
  snapshot: Omit<Selectable<SnapshotTable>, 'chunk_list' | 'block_nodes'> & { chunk_list: string; block_nodes: string }
}

/** The chunks that a statement added. They precede it in the journal. */
export interface ChunksDocument {
  kind: 'chunks'
  key: ''
  chunks: Selectable<SnapshotChunkTable>[]
}

/** A transaction that publishes a statement: written before it is sent, and again when its outcome is known. */
export interface PublicationDocument {
  kind: 'publication'
  /** The transaction. */
  key: string
  publication: PublicationTable
  /** The statement's anchor, as JSON, if it is in this transaction. */
  anchor?: string | null
}

/**
 * A transaction that publishes a checkpoint of the log: written before it is sent, and again when its outcome is known.
 */
export interface LogAnchorDocument {
  kind: 'log_anchor'
  key: string
  anchor: LogAnchorTable
}

export interface CheckpointDocument {
  kind: 'checkpoint'
  /** How many entries the checkpoint covers. */
  key: string
  origin: string
  checkpoint: LogCheckpointTable
  /** How many entries the previous checkpoint covers. */
  from: number
  /** Digests of the entries after those. */
  entries: string[]
}

export type Document =
  | ReceiptDocument
  | RefundDocument
  | UnclaimedDocument
  | LockerDocument
  | AccessDocument
  | StatementDocument
  | ChunksDocument
  | PublicationDocument
  | LogAnchorDocument
  | CheckpointDocument

export function refundKey({ network, tx, position, refund_tx }: RefundTable): string {
  return `${network} ${tx} ${position} ${refund_tx ?? 'decided'}`
}

/** The journal has one document for each outcome of a transaction. */
export function anchorKey(tx: string, state: PublicationTable['state']): string {
  return `${tx} ${state}`
}

export function unclaimedKey({ network, tx, asset }: Pick<UnclaimedPaymentTable, 'network' | 'tx' | 'asset'>): string {
  return `${network} ${tx} ${asset}`
}

/** A document as a line of the journal. */
export interface Entry {
  /** Unix seconds. */
  at: number
  document: Document
}

const CHUNKS = '"document":{"kind":"chunks",'

/** Does not parse the entry, because chunks are large. */
export function hasChunks(entry: string): boolean {
  return entry.slice(0, 60).includes(CHUNKS)
}

/** Yields nothing if the database has no such document. */
export async function* readDocument(db: Db, { kind, key }: DocumentId): AsyncGenerator<Document> {
  if (kind === 'statement') return yield* readStatement(db, key)
  const document = await READERS[kind](db, key)
  if (document) yield document
}

type Reader = (db: Db, key: string) => Promise<Document | null>

const READERS: Record<Exclude<DocumentId['kind'], 'statement'>, Reader> = {
  receipt: readReceipt,
  refund: readRefund,
  unclaimed: readUnclaimed,
  locker: readLocker,
  access: readAccessChange,
  publication: readPublication,
  log_anchor: readLogAnchor,
  checkpoint: readCheckpoint,
}

/** Every purchase is read back once, so this is a single query. */
const purchaseOf = prepared((db: Db, key: string) =>
  db
    .selectFrom('receipts as r')
    .leftJoin('pay_requests as q', 'q.pay_req_id', 'r.pay_req_id')
    .leftJoin('quote_templates as t', 't.template_id', 'q.template_id')
    .leftJoin('payment_transactions as p', (join) =>
      join.onRef('p.network', '=', 'r.network').onRef('p.tx', '=', 'r.tx'),
    )
    .leftJoin('renewals as n', 'n.receipt_id', 'r.receipt_id')
    .selectAll('r')
    .select(['q.created_at', 'q.expires_at', 'q.provider', 'q.units', 'q.quote', 'q.template_id'])
    .select(['t.template', 't.stored_at'])
    .select(['p.kind', 'p.payer as sender', 'p.asset', 'p.received', 'p.bound'])
    .select(['n.locker_id', 'n.terms', 'n.renewed_at'])
    .where('r.receipt_id', '=', key),
)

async function readReceipt(db: Db, key: string): Promise<ReceiptDocument | null> {
  const [row] = (await purchaseOf(db, key)).rows
  if (!row) return null
  const { receipt_id, pay_req_id, network, tx, payer, receipt, confirmed_at } = row
  const { created_at, expires_at, provider, units, quote, template_id, template, stored_at } = row
  const { kind, sender, asset, received, bound, locker_id, terms, renewed_at } = row
  return {
    kind: 'receipt',
    key,
    receipt: { receipt_id, pay_req_id, network, tx, payer, receipt, confirmed_at },
    // The columns of a joined row are null only where the row's own columns are.
    quote:
      created_at === null
        ? null
        : ({ pay_req_id, created_at, expires_at, provider, units, quote, template_id } as PayRequestTable),
    template: template === null ? null : ({ template_id, template, stored_at } as QuoteTemplateTable),
    payment:
      kind === null ? null : ({ network, tx, kind, payer: sender, asset, received, bound } as PaymentTransactionTable),
    authorizations: networkNamed(network)?.family === 'evm' ? (await authorizationsOf(db, pay_req_id)).rows : [],
    renewal: locker_id === null ? null : ({ receipt_id, locker_id, terms, renewed_at } as RenewalTable),
  }
}

const authorizationsOf = prepared((db: Db, payReqId: string) =>
  db.selectFrom('payment_authorizations').selectAll().where('pay_req_id', '=', payReqId),
)

async function readPayment(db: Db, network: string, paidBy: string): Promise<PaymentTransactionTable | null> {
  const row = db.selectFrom('payment_transactions').selectAll().where('network', '=', network).where('tx', '=', paidBy)
  return (await row.executeTakeFirst()) ?? null
}

async function readRefund(db: Db, key: string): Promise<RefundDocument | null> {
  const [network, tx, position, refundTx] = key.split(' ') as [string, string, string, string]
  const refund = await db
    .selectFrom('refunds')
    .selectAll()
    .where('network', '=', network)
    .where('tx', '=', tx)
    .where('position', '=', Number(position))
    .executeTakeFirst()
  // A server that lags behind may have the decision but not yet the transaction.
  if (!refund || (refundTx !== 'decided' && refund.refund_tx !== refundTx)) return null
  const payment = await readPayment(db, network, tx)
  return payment ? { kind: 'refund', key, refund, payment } : null
}

async function readUnclaimed(db: Db, key: string): Promise<UnclaimedDocument | null> {
  const [network, tx, asset] = key.split(' ') as [string, string, string]
  const unclaimed = await db
    .selectFrom('unclaimed_payments')
    .selectAll()
    .where('network', '=', network)
    .where('tx', '=', tx)
    .where('asset', '=', asset)
    .executeTakeFirst()
  return unclaimed ? { kind: 'unclaimed', key, unclaimed } : null
}

async function readLocker(db: Db, key: string): Promise<LockerDocument | null> {
  const locker = await db.selectFrom('lockers').selectAll().where('locker_id', '=', key).executeTakeFirst()
  return locker ? { kind: 'locker', key, locker } : null
}

async function readAccessChange(db: Db, key: string): Promise<AccessDocument | null> {
  const row = await db.selectFrom('revocations').selectAll().where('revocation_id', '=', key).executeTakeFirst()
  return row ? accessDocument(row) : null
}

/** `since` in Unix seconds. */
export async function accessChangesSince(db: Db, since: number): Promise<AccessDocument[]> {
  const rows = await db.selectFrom('revocations').selectAll().where('revoked_at', '>=', since).execute()
  return rows.flatMap((row) => accessDocument(row) ?? [])
}

function accessDocument({ revocation_id: key, revoked_at, revoked }: RevocationTable): AccessDocument | null {
  const change = parseAccessChange(revoked)
  return change && { kind: 'access', key, changedAt: revoked_at, change }
}

/** V8 frees longer texts only in a full collection. */
const CHUNKS_AT_ONCE = 10

async function* readStatement(db: Db, key: string): AsyncGenerator<Document> {
  const row = await db
    .selectFrom('statements as s')
    .innerJoin('attestations as a', 'a.receipt_id', 's.receipt_id')
    .innerJoin('snapshots as n', 'n.snapshot_key', 's.snapshot_key')
    .selectAll('s')
    .select('a.proof_id')
    .select(['n.file_count', 'n.total_bytes', 'n.merkle_root', 'n.manifest_digest', 'n.chunk_list', 'n.block_nodes'])
    .where('s.statement_digest', '=', key)
    .executeTakeFirst()
  if (!row) return
  const { proof_id, file_count, total_bytes, merkle_root, manifest_digest, chunk_list, block_nodes, ...statement } = row
  const known = await chunksBefore(db, statement)
  const added = [...new Set(chunkIds(chunk_list))].filter((id) => !known.has(id))
  for (let i = 0; i < added.length; i += CHUNKS_AT_ONCE) {
    const ids = added.slice(i, i + CHUNKS_AT_ONCE)
    const chunks = await db.selectFrom('snapshot_chunks').selectAll().where('chunk_id', 'in', ids).execute()
    // Another server, which lacks the statement, may answer now.
    if (chunks.length < ids.length) throw new DatabaseUnavailable(`chunks of the statement ${key} are missing`)
    yield { kind: 'chunks', key: '', chunks }
  }
  yield {
    kind: 'statement',
    key,
    proofId: proof_id as string, // a statement with a digest has one
    statement,
    snapshot: {
      snapshot_key: statement.snapshot_key,
      file_count,
      total_bytes,
      merkle_root,
      manifest_digest,
      chunk_list: Buffer.from(chunk_list).toString('base64'),
      block_nodes: Buffer.from(block_nodes).toString('base64'),
    },
  }
}

/** The chunks of the previous statement, which is in the journal, or older than the journal. */
async function chunksBefore(db: Db, { receipt_id, sequence }: StatementTable): Promise<Set<string>> {
  const before = await db
    .selectFrom('statements as s')
    .innerJoin('snapshots as n', 'n.snapshot_key', 's.snapshot_key')
    .select('n.chunk_list')
    .where('s.receipt_id', '=', receipt_id)
    .where('s.sequence', '=', sequence - 1)
    .executeTakeFirst()
  return new Set(before && chunkIds(before.chunk_list))
}

function chunkIds(bytes: Uint8Array): string[] {
  const list = openChunkList(bytes)
  return Array.from({ length: list.length }, (_, i) => list.id(i))
}

async function readPublication(db: Db, anchorKey: string): Promise<PublicationDocument | null> {
  const key = txOf(anchorKey)
  const row = await db
    .selectFrom('publications as p')
    .leftJoin('statements as s', (join) =>
      join.onRef('s.receipt_id', '=', 'p.receipt_id').onRef('s.sequence', '=', 'p.sequence'),
    )
    .selectAll('p')
    .select('s.anchor')
    .where('p.tx', '=', key)
    .executeTakeFirst()
  if (!row) return null
  const { anchor, ...publication } = row
  const isIn = anchor !== null && (JSON.parse(anchor) as Anchor).tx === key
  return { kind: 'publication', key, publication, anchor: isIn ? anchor : null }
}

function txOf(anchorKey: string): string {
  return anchorKey.split(' ')[0] as string
}

async function readLogAnchor(db: Db, anchorKey: string): Promise<LogAnchorDocument | null> {
  const key = txOf(anchorKey)
  const anchor = await db.selectFrom('log_anchors').selectAll().where('tx', '=', key).executeTakeFirst()
  return anchor ? { kind: 'log_anchor', key, anchor } : null
}

async function readCheckpoint(db: Db, key: string): Promise<CheckpointDocument | null> {
  const size = Number(key)
  const checkpoint = await db.selectFrom('log_checkpoints').selectAll().where('size', '=', size).executeTakeFirst()
  const log = await db.selectFrom('logs').select('origin').executeTakeFirst()
  if (!checkpoint || !log) return null
  const before = await db
    .selectFrom('log_checkpoints')
    .select('size')
    .where('size', '<', size)
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst()
  const from = before?.size ?? 0
  const entries = await db
    .selectFrom('log_entries')
    .select('statement_digest')
    .where('entry_index', '>=', from)
    .where('entry_index', '<', size)
    .orderBy('entry_index')
    .execute()
  const digests = entries.map(({ statement_digest }) => statement_digest)
  return { kind: 'checkpoint', key, origin: log.origin, checkpoint, from, entries: digests }
}
