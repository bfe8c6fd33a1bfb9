// `svc-gateway log`: compares the database with the published log.

import { findGap } from '../publication/log/compare.ts'
import { printJson, withOperations } from './with-operations.ts'

export const USAGE = 'usage: svc-gateway log [show]'
const INCOMPLETE = 1

export async function run(args: string[]): Promise<void> {
  await withOperations(async ({ publishedLog, database }) => {
    if (args.length > 0 && args.join() !== 'show') throw new Error(USAGE)
    const gap = await findGap(database.db, publishedLog)
    if (gap) process.exitCode = INCOMPLETE
    const checkpoint = gap?.kind === 'foreign' ? null : await publishedLog.newest()
    printJson({ published: checkpoint?.size ?? 0, database: gap?.kind ?? 'ok', missing: gap?.missing ?? 0 })
  })
}
