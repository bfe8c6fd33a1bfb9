// Exported records of the oracle era, their receipts, and a database to import them into.

import { createHash } from 'node:crypto'
import type { Database } from '@svc/database/open'
import type { TestDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { manifestSignature, resultHash } from '@svc/protocol/attestation'
import { toHex, withPrefix } from '@svc/protocol/bytes'
import { lockerId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex, ed25519Signer } from '@svc/protocol/keys'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { sortedByFilename } from '@svc/protocol/order'
import { signReceipt } from '@svc/protocol/receipt'
import vectors from '../../../../../vectors/protocol.json' with { type: 'json' }
import type { DocumentId } from '../../../src/continuity/document-id.ts'
import { migrations } from '../../../src/db/migrations.ts'
import type { Db, Schema } from '../../../src/db/schema.ts'
import { type ImportContext, type ImportReport, importRecords } from '../../../src/evidence/import/import-records.ts'
import { type ExportEntry, readExport } from '../../../src/evidence/import/read-export.ts'
import { insertPayRequest, insertReceipt } from '../../../src/purchases/store.ts'

const signer = ed25519Signer(Buffer.alloc(32, 7))
export const signerHex = toHex(signer.publicKey)

/** An exported record, which tests may change in any way. */
export type Exported = Record<string, unknown>

const bundle = vectors.evidence_bundle_v1_example

/** A record of three files by an independent implementation, and the key that signed it. */
export const vectorRecord: Exported = {
  receipt_id: bundle.receipt_id,
  locker_id: vectors.merkle.locker_id,
  result_hash: bundle.v1_signature.result_hash,
  merkle_root: bundle.commitment.merkle_root,
  manifest_signature: bundle.v1_signature.manifest_signature,
  file_count: bundle.commitment.file_count,
  total_bytes: Number(bundle.commitment.total_bytes),
  files: bundle.files,
  attested_at: bundle.commitment.attested_at,
  schema_version: '1.0',
  oracle_slot: bundle.anchor.slot,
  oracle_tx: bundle.anchor.tx,
  oracle_feed: bundle.anchor.account,
  anchor: bundle.anchor,
}
export const vectorKey = bundle.signing_keys.keys[0]!.public_key_hex

/** Computes with functions over a whole list; the import uses those that work chunk by chunk. */
export function exported(receiptId: string, filenames: readonly string[] = ['a.txt', 'b.txt'], more: Exported = {}) {
  const files = sortedByFilename(filenames.map(exportedFile))
  const root = withPrefix(merkleRoot(files.map(leafHash)))
  return {
    receipt_id: receiptId,
    locker_id: lockerId(receiptId),
    result_hash: resultHash(lockerId(receiptId), files),
    merkle_root: root,
    manifest_signature: manifestSignature(root, signer),
    file_count: files.length,
    total_bytes: files.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    files,
    attested_at: '2025-03-01T09:30:00Z',
    schema_version: '1.0',
    oracle_slot: null,
    oracle_tx: null,
    oracle_feed: null,
    ...more,
  }
}

function exportedFile(filename: string) {
  const content_hash = withPrefix(createHash('sha256').update(filename).digest('hex'))
  return { filename, size_bytes: filename.length, content_hash, content_type: 'text/plain' }
}

export function jsonLines(records: readonly Exported[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

/** Reads records as the command does. */
function entriesOf(...records: Exported[]): AsyncIterable<ExportEntry> {
  return readExport(chunked(jsonLines(records)))
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

export async function* chunked(text: string, size = 1000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

/** Inserts a receipt without a real purchase. */
export async function addReceipt(db: Db, receiptId: string): Promise<string> {
  const pay_req_id = `pr_${receiptId}`
  const quote = { pay_req_id, provider: 'gcs', units: 1, quote: '{}', created_at: 0, expires_at: 300 }
  await insertPayRequest(writable(db), quote)
  const receipt = {
    receipt_id: receiptId,
    pay_req_id,
    paid_amount: '1',
    paid_raw: '1',
    pay_asset: 'USDC',
    network: 'primary-mainnet',
    slot: 1,
    sig_alg: 'ed25519' as const,
    tx_hash: `tx_${receiptId}`,
    payer_pubkey: 'nobody',
    units: 1,
    confirmed_at: '2025-02-01T00:00:00Z',
    result_hash: '',
  }
  await insertReceipt(writable(db), signReceipt(receipt, signer))
  return receiptId
}

export interface ImportDatabase {
  database: Database<Schema, DocumentId>
  db: Db
  context: ImportContext
  run(...records: Exported[]): Promise<ImportReport>
  dryRun(...records: Exported[]): Promise<ImportReport>
  /** All rows that an import may write. */
  everything(): Promise<unknown>
}

export async function openImportDatabase(database: TestDatabase): Promise<ImportDatabase> {
  // An import journals nothing.
  const opened = (await database.openMigrated<Schema>(migrations)) as unknown as Database<Schema, DocumentId>
  const { db } = opened
  const keyOf = (hex: string) => ({ verifier: ed25519PublicKeyFromHex(hex)!, revokedSince: null })
  const keys = new Map([signerHex, vectorKey].map((hex) => [hex, keyOf(hex)]))
  const context = { database: opened, keysAt: async () => keys, now: () => Date.UTC(2026, 8, 1) }
  const tables = ['attestations', 'statements', 'snapshots', 'snapshot_chunks'] as const
  return {
    database: opened,
    db,
    context,
    run: (...records) => importRecords(context, entriesOf(...records)),
    dryRun: (...records) => importRecords(context, entriesOf(...records), { isDryRun: true }),
    everything: () => Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute())),
  }
}

/** An empty report with these changes. */
export function report(of: Partial<ImportReport>): ImportReport {
  return { imported: 0, existing: 0, refused: [], unverified: [], ...of }
}

export function remark({ locker_id }: Exported, line: number) {
  return { at: `line ${line}`, lockerId: locker_id as string }
}
