import type { JobRun } from '@svc/queue/queue'
import type { Context } from '../../context.ts'
import type { Summary } from '../runs/run.ts'
import { runTask } from '../runs/run-task.ts'
import { finishedRuns } from '../runs/store.ts'
import { watchBytes } from './watch-bytes.ts'
import { watchFiles } from './watch-files.ts'
import { watchStatements } from './watch-statements.ts'

/** So many runs in a row that have seen nothing are as good as none. */
const RUNS_LOOKED_AT = 20

/** Compares a locker with what was seen of it before. The first time there is nothing to compare it with. */
export async function watch(context: Context, delegationId: string, job: JobRun): Promise<void> {
  await runTask(context, 'watch', delegationId, job, async (run) => {
    const earlier = await finishedRuns(context.database.db, delegationId, 'watch', RUNS_LOOKED_AT)
    const summaries = earlier.map(({ summary }) => JSON.parse(summary) as Summary)
    const last = summaries.find((summary) => 'statement' in summary) ?? null
    await watchFiles(context, run, { isFirst: last === null })
    await watchStatements(context, run, last)
    await watchBytes(context, run)
  })
}
