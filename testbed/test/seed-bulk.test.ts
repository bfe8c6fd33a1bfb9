import { forEachDatabase } from '@svc/devnet/databases'
import { lockerId } from '@svc/protocol/ids'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { startTestGateway } from '../src/gateway.ts'
import { seedCopies, seedManyFiles } from '../src/seed-bulk.ts'
import { seedLocker } from '../src/seed-lockers.ts'
import { seedStatement } from '../src/seed-statements.ts'

const OWNER = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'
const FILES = 1200

forEachDatabase('rows made inside the database', (database) => {
  it('are files that can be attested, and lockers with receipts and statements of their own', {
    tags: ['nightly'],
  }, async () => {
    const gateway = await startTestGateway({ DATABASE_URL: database.url })
    const { context } = gateway
    const { db } = context.database
    const indexes = () =>
      database.dialect === 'sqlite'
        ? sql`select name, sql from sqlite_master where type = 'index' order by name`.execute(db)
        : sql`select indexname, indexdef from pg_indexes where schemaname = 'public' order by indexname`.execute(db)
    const before = await indexes()
    const locker = await seedLocker(context, { owner: OWNER })
    await seedManyFiles(context, locker, FILES)
    const { record } = await seedStatement(context, locker, { databaseUrl: database.url })
    await seedCopies(context, locker, 3)
    expect((await indexes()).rows).toEqual(before.rows)
    expect(record).toMatchObject({ file_count: FILES, total_bytes: FILES * 100 })
    const files = await db
      .selectFrom('files as f')
      .innerJoin('objects as o', 'o.object_id', 'f.object_id')
      .select(['f.filename', 'f.content_hash', 'o.state'])
      .execute()
    expect(files).toHaveLength(FILES)
    expect(new Set(files.map(({ content_hash }) => content_hash)).size).toBe(FILES)
    const copies = await db
      .selectFrom('lockers as l')
      .innerJoin('receipts as r', 'r.receipt_id', 'l.receipt_id')
      .innerJoin('pay_requests as p', 'p.pay_req_id', 'r.pay_req_id')
      .innerJoin('owners as o', 'o.owner', 'l.owner')
      .innerJoin('attestations as a', 'a.locker_id', 'l.locker_id')
      .innerJoin('statements as s', 's.receipt_id', 'a.receipt_id')
      .select(['l.locker_id', 'r.receipt_id', 'r.receipt', 's.statement_digest', 's.record'])
      .where('l.locker_id', '!=', locker.locker_id)
      .execute()
    expect(copies).toHaveLength(3)
    for (const { locker_id, receipt_id, receipt, statement_digest, record } of copies) {
      expect(locker_id).toHaveLength(lockerId(receipt_id).length)
      expect(JSON.parse(receipt).receipt_id).toBe(receipt_id)
      expect(JSON.parse(record).envelope.statement_digest).toBe(statement_digest)
    }
    await gateway.stop()
  })
})
