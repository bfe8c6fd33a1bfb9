// `svc-gateway log [show] | restore --reason … | new --origin … --reason …`: the transparency log, a database that lacks
// entries of it, and a log that cannot go on.

import { parseArgs } from 'node:util'
import { findGap } from '../log/compare.ts'
import { beginLog } from '../operations/begin-log.ts'
import { restoreLog } from '../operations/restore-log.ts'
import { printJson, requireReason, withOperations } from './with-operations.ts'

const USAGE = 'usage: svc-gateway log [show] | restore --reason <why> | new --origin <name> --reason <why>'
const NOT_WHOLE = 1
const NEXT =
  'Keep the files of the ended log as they are. Point LOG_DIR or LOG_STORE_BUCKET to an empty place, set LOG_ORIGIN if it was set, and start the gateway: docs/operations.md, "A log begins anew".'

export async function run(args: string[]): Promise<void> {
  await withOperations(async (context, actor) => {
    const { values, positionals } = parseArgs({
      args,
      options: { reason: { type: 'string' }, origin: { type: 'string' } },
      allowPositionals: true,
    })
    const [verb = 'show', ...rest] = positionals
    if (rest.length > 0) throw new Error(USAGE)
    if (verb === 'restore') return printJson(await restoreLog(context, actor, requireReason(values.reason)))
    if (verb === 'new') {
      if (values.origin === undefined) throw new Error(USAGE)
      const begun = await beginLog(context, actor, { origin: values.origin, reason: requireReason(values.reason) })
      printJson(begun)
      return console.error(NEXT)
    }
    if (verb !== 'show') throw new Error(USAGE)
    const { publishedLog, database } = context
    const gap = await findGap(database.db, publishedLog)
    if (gap) process.exitCode = NOT_WHOLE
    const checkpoint = gap?.kind === 'foreign' ? null : await publishedLog.newest()
    printJson({ published: checkpoint?.size ?? 0, database: gap?.kind ?? 'ok', missing: gap?.missing ?? 0 })
  })
}
