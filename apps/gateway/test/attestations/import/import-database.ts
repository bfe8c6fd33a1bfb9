// A database to import records into, and the reports to expect.

import type { TestDatabase } from '@svc/devnet/databases'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import {
  type ImportContext,
  type ImportReport,
  importRecords,
} from '../../../src/attestations/import/import-records.ts'
import type { Context } from '../../../src/context.ts'
import { migrations } from '../../../src/db/migrations.ts'
import type { Db, Schema } from '../../../src/db/schema.ts'
import { type Exported, entriesOf, signerHex, vectorKey } from './export-records.ts'

export interface ImportDatabase {
  database: Context['database']
  db: Db
  context: ImportContext
  run(...records: Exported[]): Promise<ImportReport>
  dryRun(...records: Exported[]): Promise<ImportReport>
  /** All rows that an import may write. */
  everything(): Promise<unknown>
}

export async function openImportDatabase(database: TestDatabase): Promise<ImportDatabase> {
  const opened = await database.openMigrated<Schema>(migrations)
  const { db } = opened
  const keyOf = (hex: string) => ({ verifier: ed25519PublicKeyFromHex(hex)!, revokedSince: null })
  const keys = new Map([signerHex, vectorKey].map((hex) => [hex, keyOf(hex)]))
  const context = { db, keysAt: async () => keys, now: () => Date.UTC(2026, 8, 1) }
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

/** A report that is empty but for this. */
export function report(of: Partial<ImportReport>): ImportReport {
  return { imported: 0, existing: 0, refused: [], unverified: [], ...of }
}

export function remark({ locker_id }: Exported, line: number) {
  return { at: `line ${line}`, lockerId: locker_id as string }
}
