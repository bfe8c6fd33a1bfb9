// `svc-gateway import-attestations [--dry-run] <export>`: imports attestation records of the oracle era. See
// docs/import-attestations.md.

import { open } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { formatReport } from '../evidence/import/format-report.ts'
import { importRecords } from '../evidence/import/import-records.ts'
import { readExport } from '../evidence/import/read-export.ts'
import { createKeysAt } from '../keys/keys-at.ts'
import { withOperations } from './with-operations.ts'

const REFUSED_SOME = 1
const COULD_NOT_RUN = 2

export const USAGE = 'usage: svc-gateway import-attestations [--dry-run] <export, or - for standard input>'

export async function run(args: string[]): Promise<void> {
  await withOperations(
    async (context) => {
      const { path, isDryRun } = readArguments(args)
      const source = path === '-' ? process.stdin : (await open(path)).createReadStream()
      const { database, now } = context
      const keysAt = createKeysAt(context.database)
      const report = await importRecords({ database, keysAt, now }, readExport(source), { isDryRun })
      process.stdout.write(formatReport(report, isDryRun))
      if (report.refused.length > 0) process.exitCode = REFUSED_SOME
    },
    { failure: COULD_NOT_RUN },
  )
}

function readArguments(args: string[]): { path: string; isDryRun: boolean } {
  const { values, positionals } = parseArgs({
    args,
    options: { 'dry-run': { type: 'boolean' } },
    allowPositionals: true,
  })
  const [path, ...others] = positionals
  if (path === undefined || others.length > 0) {
    throw new Error(USAGE)
  }
  return { path, isDryRun: values['dry-run'] ?? false }
}
