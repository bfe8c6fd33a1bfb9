import type { Tasks } from '@svc/api/agent/tasks'
import type { DelegationRow } from '../db/schema.ts'
import type { DueTimes, LastRun } from './store.ts'

const SHORTEST_PERIOD_SECONDS = 3600

/**
 * Of the tasks of a new delegation, at once; but a locker that is delegated anew again and again is not worked on more
 * often than others.
 */
export function dueAtOnce(tasks: Tasks, runs: readonly LastRun[], now: number): DueTimes {
  const due = (task: LastRun['task']) => (tasks[task] ? dueAfter(runs, task, now) : null)
  return { mirror_at: due('mirror'), watch_at: due('watch') }
}

/** At once, or when the shortest period after the last run is over. A run that is yet to come counts for none. */
function dueAfter(runs: readonly LastRun[], task: LastRun['task'], now: number): number {
  const last = runs.find((run) => run.task === task && run.started_at <= now)
  return Math.max(now, (last?.started_at ?? 0) + SHORTEST_PERIOD_SECONDS)
}

export interface Change {
  before: DelegationRow
  after: Tasks
  /** The newest first; those of the last hour at least. */
  runs: readonly LastRun[]
  /** Unix seconds. */
  now: number
}

/**
 * A task that is new or changed is due at once, but within the shortest period there is no second run of it: tasks
 * that are changed back and forth would be work without end. One that stays as it was keeps its time.
 */
export function dueAfterChange({ before, after, runs, now }: Change): DueTimes {
  const old: Tasks = JSON.parse(before.tasks)
  const due = (task: 'mirror' | 'watch') => {
    if (!after[task]) return null
    if (JSON.stringify(after[task]) === JSON.stringify(old[task])) return before[`${task}_at`]
    return dueAfter(runs, task, now)
  }
  return { mirror_at: due('mirror'), watch_at: due('watch') }
}
