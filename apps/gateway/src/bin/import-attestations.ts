// `svc-gateway import-attestations [--dry-run] <export>`: takes over attestation records of the oracle era. See
// docs/import-attestations.md.

import { open } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { openDatabase } from '@svc/database/open'
import { formatReport } from '../attestations/import/format-report.ts'
import { importRecords } from '../attestations/import/import-records.ts'
import { readExport } from '../attestations/import/read-export.ts'
import { readConfig } from '../config.ts'
import type { Entry } from '../continuity/entries.ts'
import { migrations } from '../db/migrations.ts'
import type { Schema } from '../db/schema.ts'
import { createKeysAt } from '../keys/signing-keys.ts'

const REFUSED_SOME = 1
const COULD_NOT_RUN = 2

export async function run(args: string[]): Promise<void> {
  try {
    const { path, isDryRun } = readArguments(args)
    const { secrets } = readConfig(process.env)
    const source = path === '-' ? process.stdin : (await open(path)).createReadStream()
    const database = await openDatabase<Schema, Entry>({ url: secrets.databaseUrl, migrations })
    try {
      const context = { database, keysAt: createKeysAt({ database }), now: Date.now }
      const report = await importRecords(context, readExport(source), { isDryRun })
      process.stdout.write(formatReport(report, isDryRun))
      if (report.refused.length > 0) process.exitCode = REFUSED_SOME
    } finally {
      await database.close()
    }
  } catch (error) {
    // Where several addresses were tried, the message is empty.
    console.error((error as Error).message || error)
    process.exitCode = COULD_NOT_RUN
  }
}

function readArguments(args: string[]): { path: string; isDryRun: boolean } {
  const { values, positionals } = parseArgs({
    args,
    options: { 'dry-run': { type: 'boolean' } },
    allowPositionals: true,
  })
  const [path, ...others] = positionals
  if (path === undefined || others.length > 0) {
    throw new Error('usage: svc-gateway import-attestations [--dry-run] <export, or - for standard input>')
  }
  return { path, isDryRun: values['dry-run'] ?? false }
}
