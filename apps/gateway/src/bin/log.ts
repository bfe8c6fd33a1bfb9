// `svc-gateway log [show] | restore --reason …`: the transparency log, and a database that lacks entries of it.

import { parseArgs } from 'node:util'
import { findGap } from '../log/compare.ts'
import { restoreLog } from '../operations/restore-log.ts'
import { printJson, requireReason, withOperations } from './with-operations.ts'

const USAGE = 'usage: svc-gateway log [show] | restore --reason <why>'
const NOT_WHOLE = 1

export async function run(args: string[]): Promise<void> {
  await withOperations(async (context, actor) => {
    const { values, positionals } = parseArgs({
      args,
      options: { reason: { type: 'string' } },
      allowPositionals: true,
    })
    const [verb = 'show', ...rest] = positionals
    if (rest.length > 0) throw new Error(USAGE)
    if (verb === 'restore') return printJson(await restoreLog(context, actor, requireReason(values.reason)))
    if (verb !== 'show') throw new Error(USAGE)
    const { publishedLog, database } = context
    const gap = await findGap(database.db, publishedLog)
    if (gap) process.exitCode = NOT_WHOLE
    const checkpoint = gap?.kind === 'foreign' ? null : await publishedLog.newest()
    printJson({ published: checkpoint?.size ?? 0, database: gap?.kind ?? 'ok', missing: gap?.missing ?? 0 })
  })
}
