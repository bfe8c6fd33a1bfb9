// What each kind of event adds to the database, measured at a small gateway on SQLite: pages of tables and indexes.

import { Readable } from 'node:stream'
import { startLocalChains } from '@svc/devnet/local-chains'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedManyFiles } from '@svc/devnet/services/seed-bulk'
import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import { seedStatement } from '@svc/devnet/services/seed-statements'
import { writable } from '@svc/devnet/writable'
import type { Context } from '@svc/gateway/context'
import type { Locker, Schema } from '@svc/gateway/db/schema'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { sql } from 'kysely'
import { ownerSeed } from '../signed-requests.ts'

/** Bytes of the database for one of each. */
export interface EventBytes {
  quote: number
  /** Its receipt, owner and locker. */
  purchase: number
  /** Its entry and its object. */
  file: number
  /** About a locker of `SMALL_FILES` and of `LARGE_FILES`, after a few changes. */
  smallStatement: number
  largeStatement: number
  anchor: number
}

const QUOTES = 400
const PURCHASES = 300
const FILES = 20_000
export const SMALL_FILES = 100
export const LARGE_FILES = 2_000
/** Where a list is cut depends on the locker. */
const ATTESTED_LOCKERS = 6
const STATEMENTS = 6
const CHANGES = 3
const ANCHORED = 25

const TABLES = {
  quote: ['pay_requests', 'quote_templates'],
  purchase: ['pay_requests', 'receipts', 'owners', 'lockers', 'payment_transactions', 'sales_periods'],
  file: ['files', 'objects'],
  statement: ['statements', 'snapshots', 'snapshot_chunks', 'attestations'],
  anchor: ['publications', 'statements', 'attestations'],
} as const satisfies Record<string, readonly (keyof Schema)[]>

export async function measureEvents(): Promise<EventBytes> {
  await using opened = new AsyncDisposableStack()
  const chains = await startLocalChains({ landing: 'at once' })
  opened.defer(chains.stop)
  const gateway = await startTestGateway(chains.variables)
  opened.defer(gateway.stop)
  const { context, url } = gateway

  const growth = async (tables: readonly string[], count: number, work: () => Promise<unknown>) => {
    const before = await bytesOf(context, tables)
    await work()
    return ((await bytesOf(context, tables)) - before) / count
  }
  let owners = 0
  const newLocker = () =>
    seedLocker(context, { owner: toBase58(ed25519Signer(ownerSeed(owners++)).publicKey), provider: 'gcs' })

  const quote = await growth(TABLES.quote, QUOTES, () => times(QUOTES, () => askForQuote(url)))
  const purchase = await growth(TABLES.purchase, PURCHASES, () => times(PURCHASES, newLocker))
  const full = await newLocker()
  const file = await growth(TABLES.file, FILES, () => seedManyFiles(context, full, FILES))
  const statementOf = async (files: number) => {
    const lockers = await timesInOrder(ATTESTED_LOCKERS, newLocker)
    for (const locker of lockers) {
      await seedFiles(context, locker.locker_id, files)
      await seedStatement(context, locker)
    }
    return growth(TABLES.statement, ATTESTED_LOCKERS * STATEMENTS, () =>
      times(ATTESTED_LOCKERS * STATEMENTS, async (i) => {
        const locker = lockers[i % ATTESTED_LOCKERS] as Locker
        await changeFiles(context, locker, files)
        await seedStatement(context, locker)
      }),
    )
  }
  const smallStatement = await statementOf(SMALL_FILES)
  const largeStatement = await statementOf(LARGE_FILES)
  const attested = await timesInOrder(ANCHORED, () => attestedLocker(context, newLocker))
  const anchor = await growth(TABLES.anchor, ANCHORED, () => times(ANCHORED, (i) => publish(url, attested[i]!)))
  return { quote, purchase, file, smallStatement, largeStatement, anchor }
}

async function times(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  await timesInOrder(count, work)
}

async function timesInOrder<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let i = 0; i < count; i++) results.push(await work(i))
  return results
}

async function bytesOf({ database }: Context, tables: readonly string[]): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select sum(pgsize) as bytes from dbstat join sqlite_master using (name) where tbl_name in (${sql.join(tables)})
  `.execute(database.db)
  return Number(rows[0]?.bytes ?? 0)
}

async function askForQuote(url: string): Promise<void> {
  const response = await fetch(`${url}/v1/storage/request`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ units: 1, provider: 'gcs' }),
  })
  if (response.status !== 402) throw new Error(`a quote was answered with ${response.status}`)
}

/** New hashes for some files, as uploads leave them. */
async function changeFiles({ database }: Context, { locker_id }: Locker, files: number): Promise<void> {
  const { db } = database
  for (let change = 0; change < CHANGES; change++) {
    const number = String(Math.floor(Math.random() * files)).padStart(7, '0')
    const hash = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')
    await writable(db)
      .updateTable('files')
      .set({ content_hash: `sha256:${hash}` })
      .where('locker_id', '=', locker_id)
      .where('filename', '=', `folder-${number.slice(0, 4)}/file-${number}.txt`)
      .execute()
  }
  await writable(db)
    .updateTable('lockers')
    .set((eb) => ({ manifest_version: eb('manifest_version', '+', 1) }))
    .where('locker_id', '=', locker_id)
    .execute()
}

/** One whose bytes exist, with a statement that is not published. */
async function attestedLocker(context: Context, newLocker: () => Promise<Locker>): Promise<string> {
  const { locker_id, receipt_id, provider, ...rest } = await newLocker()
  await seedFiles(context, locker_id, 1)
  const [file] = await context.database.db
    .selectFrom('files')
    .select('object_id')
    .where('locker_id', '=', locker_id)
    .execute()
  await context.providers
    .named(provider)
    .write(file!.object_id as string, Readable.from([Buffer.alloc(100)]), { contentType: 'text/plain', size: 100 })
  await seedStatement(context, { locker_id, receipt_id, provider, ...rest })
  return receipt_id
}

async function publish(url: string, receiptId: string): Promise<void> {
  const response = await fetch(`${url}/v1/internal/attest`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ receipt_id: receiptId, push: true }),
  })
  if (!response.ok) throw new Error(`publishing was answered with ${response.status}: ${await response.text()}`)
}
