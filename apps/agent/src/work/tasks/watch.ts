import type { Context } from '../../context.ts'
import type { Run, Summary } from '../runs/run.ts'
import { finishedRuns } from '../runs/store.ts'
import { watchBytes } from './watch-bytes.ts'
import { watchFiles } from './watch-files.ts'
import { watchStatements } from './watch-statements.ts'

/** When none of this many runs reached the statements, this run counts as the first. */
const MAX_EARLIER_RUNS = 20

/** Compares a locker with the records of earlier runs. The first run only records a baseline. */
export async function watchLocker(context: Context, run: Run): Promise<void> {
  const earlier = await finishedRuns(context.database.db, run.delegation_id, 'watch', MAX_EARLIER_RUNS)
  const summaries = earlier.map(({ summary }) => JSON.parse(summary) as Summary)
  const last = summaries.find((summary) => 'statement' in summary) ?? null
  await watchFiles(context, run, { isFirst: last === null })
  await watchStatements(context, run, last)
  await watchBytes(context, run)
}
