// `svc-gateway audit [--head <sequence>:<hash>]`: prints the audit trail as lines of JSON, newest first, and whether it
// is intact. `--head` is a head that was saved elsewhere: it shows whether the end was cut off. Exits with 1 if the log
// was changed.

import { parseArgs } from 'node:util'
import { compareWithJournal, countMissing } from '../continuity/missing.ts'
import { auditPage, checkChain } from '../views/admin/audit.ts'
import { withOperations } from './with-operations.ts'

export const USAGE = 'usage: svc-gateway audit [--head <sequence>:<hash>]'
const CHANGED = 1
const ENTRIES = 500

export async function run(args: string[]): Promise<void> {
  await withOperations(async (context) => {
    const { values } = parseArgs({ args, options: { head: { type: 'string' } } })
    const { db } = context.database
    const { entries } = await auditPage(db, { limit: ENTRIES })
    for (const entry of entries) console.log(JSON.stringify(entry))
    const { intact, head, broken_at } = await checkChain(db, values.head ?? null)
    console.error(
      intact
        ? `The audit trail is intact. Head: ${head ?? 'none yet'}`
        : `The audit trail was changed at entry ${broken_at}.`,
    )
    const { location } = context.continuity
    if (location && countMissing((await compareWithJournal(db, location)).missing) > 0)
      console.error('The database is behind: later entries may be missing.')
    if (!intact) process.exitCode = CHANGED
  })
}
