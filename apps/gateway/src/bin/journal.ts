// `svc-gateway journal [show] | prune --before <date> --reason …`: lists or prunes the files of the journal.

import { parseArgs } from 'node:util'
import { listJournal, pruneJournal } from '../continuity/prune.ts'
import { appendAudit } from '../views/admin/audit.ts'
import { requireReason, withOperations } from './with-operations.ts'

export const USAGE = 'usage: svc-gateway journal [show] | prune --before <date, as 2026-01-31> --reason <why>'

export async function run(args: string[]): Promise<void> {
  const [verb = 'show'] = args
  // Showing writes nothing.
  const whileBehind = verb === 'show'
  await withOperations(
    async (context, actor) => {
      const { values, positionals } = parseArgs({
        args,
        options: { before: { type: 'string' }, reason: { type: 'string' } },
        allowPositionals: true,
      })
      if (positionals.length > 1 || (verb !== 'show' && verb !== 'prune')) throw new Error(USAGE)
      const { database, continuity } = context
      if (!continuity.location) throw new Error('there is no journal: LOGBOOK_DIR is off')
      const { folder } = continuity.location
      if (verb === 'show') {
        for (const { name, size, touchedMs, isRead } of await listJournal(database, folder))
          console.log(
            `${name}  ${size} bytes  until ${new Date(touchedMs).toISOString()}  ${isRead ? '' : 'partly '}in the database`,
          )
        return
      }
      const beforeMs = Date.parse(values.before ?? '')
      if (Number.isNaN(beforeMs)) throw new Error(USAGE)
      const reason = requireReason(values.reason)
      const removed = await pruneJournal(database, folder, beforeMs)
      await database.commit((tx) =>
        appendAudit(context, tx, {
          actor: actor.identity,
          action: 'prune_journal',
          target: 'journal',
          reason,
          details: { before: new Date(beforeMs).toISOString(), removed },
        }),
      )
      for (const name of removed) console.log(`removed ${name}`)
      console.log(`${removed.length} files removed.`)
    },
    { whileBehind },
  )
}
