// Fills a gateway's database inside the engine, with millions of lockers and files. The rows are as the gateway writes
// them, but signatures and digests of copied lockers are valid only for the original.

import type { Context } from '@svc/gateway/context'
import type { Locker } from '@svc/gateway/db/schema'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { writable } from '../writable.ts'

type DialectName = Context['database']['dialect']

const FILE_BYTES = 100
const AT_ONCE = 1_000_000

/** Confirmed files named `folder-<i>/file-<i>.txt` with their objects, without bytes in storage. At most 10,000,000. */
export async function seedManyFiles({ database, now }: Context, locker: Locker, count: number): Promise<void> {
  const { dialect } = database
  const db = writable(database.db)
  const seconds = Math.floor(now() / 1000)
  const at = isoSeconds(seconds)
  const randomHex = randomHexOf(dialect)
  await withoutIndexes(db, dialect, ['files', 'objects'], async () => {
    for (let first = 0; first < count; first += AT_ONCE) {
      await sql`
        insert into files (locker_id, filename, content_type, object_id, size_bytes, content_hash, uploaded_at,
          hash_recorded_at, upload_content_type)
        select ${locker.locker_id}, 'folder-' || substr(number, 1, 4) || '/file-' || number || '.txt', 'text/plain',
          ${randomHex}, ${sql.lit(FILE_BYTES)}, 'sha256:' || ${randomHex} || ${randomHex}, ${at}, ${at}, 'text/plain'
        from (${numbersFrom(first, Math.min(count, first + AT_ONCE))}) as numbers`.execute(db)
    }
    // Inserting in the order of the key is several times as fast.
    await sql`
      insert into objects (object_id, provider, provider_ref, state, since)
      select object_id, ${locker.provider}, null, 'held', ${sql.lit(seconds)} from files
      where locker_id = ${locker.locker_id} order by object_id`.execute(db)
  })
  await db
    .updateTable('lockers')
    .set({ file_count: count, total_bytes: count * FILE_BYTES, manifest_version: 1, manifest_changed_at: at })
    .where('locker_id', '=', locker.locker_id)
    .execute()
  await updateStatistics(db, dialect)
}

/** Copies an attested locker with its quote, receipt and statement, each time with other ids and another owner. */
export async function seedCopies({ database }: Context, locker: Locker, count: number): Promise<void> {
  const { dialect } = database
  const randomHex = randomHexOf(dialect)
  const { receipt_id, owner } = locker
  await writable(database.db)
    .transaction()
    .execute(async (tx) => {
      const receipt = await tx
        .selectFrom('receipts')
        .selectAll()
        .where('receipt_id', '=', receipt_id)
        .executeTakeFirst()
      const statement = await tx.selectFrom('statements').selectAll().where('receipt_id', '=', receipt_id).execute()
      const replaced = {
        id: receipt_id.slice('rcpt_'.length),
        purchase: receipt!.pay_req_id.slice('pr_'.length),
        locker: locker.locker_id.slice('locker_'.length),
        owner,
        digest: statement[0]!.statement_digest!.slice('sha256:'.length),
      }
      await sql`
      create temporary table copies as select ${randomHex} as id, ${randomHex} as purchase, substr(${randomHex}, 1, 5) || number as locker,
        ${randomHex} || substr(${randomHex}, 1, 12) as owner, ${randomHex} || ${randomHex} as digest
      from (${numbersFrom(0, count)}) as numbers`.execute(tx)
      await withoutIndexes(tx, dialect, ['pay_requests', 'receipts', 'lockers', 'attestations'], async () => {
        await copyRow(tx, 'pay_requests', 'pay_req_id', receipt!.pay_req_id, replaced)
        await copyRow(tx, 'receipts', 'receipt_id', receipt_id, replaced)
        await copyRow(tx, 'owners', 'owner', owner, replaced)
        await copyRow(tx, 'lockers', 'receipt_id', receipt_id, replaced)
        await copyRow(tx, 'attestations', 'receipt_id', receipt_id, replaced)
        await copyRow(tx, 'statements', 'receipt_id', receipt_id, replaced)
      })
      await sql`drop table copies`.execute(tx)
    })
  await updateStatistics(database.db, dialect)
}

/** PostgreSQL does it by itself after a while, and plans badly until then. */
async function updateStatistics(db: Context['database']['db'], dialect: DialectName): Promise<void> {
  if (dialect === 'postgres') await sql`vacuum analyze`.execute(writable(db))
}

type AnyDb = Kysely<never>

/** Copies a row once for each row of `copies`, whose values take the place of the replaced ones. */
async function copyRow(
  db: unknown,
  table: string,
  key: string,
  id: string,
  replaced: Readonly<Record<string, string>>,
): Promise<void> {
  // A table by its name has no type.
  const anyDb = db as AnyDb
  const { rows } = await sql<Record<string, unknown>>`
    select * from ${sql.table(table)} where ${sql.ref(key)} = ${id}`.execute(anyDb)
  const row = rows[0] as Record<string, unknown>
  const values = Object.values(row).map((value) => {
    if (typeof value !== 'string') return sql.lit(value)
    return Object.entries(replaced)
      .filter(([, old]) => value.includes(old))
      .reduce(
        (text, [column, old]) => sql`replace(${text}, ${sql.lit(old)}, ${sql.ref(column)})`,
        sql`${sql.lit(value)}`,
      )
  })
  await sql`
    insert into ${sql.table(table)} (${sql.join(Object.keys(row).map((column) => sql.ref(column)))})
    select ${sql.join(values)} from copies order by id`.execute(anyDb)
}

/** Numbers with leading zeros, seven digits. */
function numbersFrom(first: number, end: number): RawBuilder<unknown> {
  return sql`
    with recursive counted(i) as (select ${sql.lit(first)} union all select i + 1 from counted where i < ${sql.lit(end - 1)})
    select substr(cast(10000000 + i as text), 2) as number from counted`
}

/** 32 random digits. */
function randomHexOf(dialect: DialectName): RawBuilder<string> {
  return dialect === 'sqlite' ? sql`lower(hex(randomblob(16)))` : sql`replace(cast(gen_random_uuid() as text), '-', '')`
}

/** Building an index of millions of random ids at once is many times as fast as adding them one by one. */
async function withoutIndexes(
  db: unknown,
  dialect: DialectName,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const anyDb = db as AnyDb
  const indexes =
    dialect === 'sqlite'
      ? sql<{ name: string; definition: string }>`
          select name, sql as definition from sqlite_master
          where type = 'index' and sql is not null and tbl_name in (${sql.join(tables)})`
      : sql<{ name: string; definition: string }>`
          select indexname as name, indexdef as definition from pg_indexes where tablename in (${sql.join(tables)})
          and not exists (select 1 from pg_constraint where conname = indexname)`
  const { rows } = await indexes.execute(anyDb)
  for (const { name } of rows) await sql`drop index ${sql.id(name)}`.execute(anyDb)
  await fill()
  for (const { definition } of rows) await sql.raw(definition).execute(anyDb)
}
