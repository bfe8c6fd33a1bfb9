import type { Tasks } from '@svc/api/agent/tasks'
import type { DelegationRow } from '../db/schema.ts'
import type { DueTimes } from './store.ts'

const SHORTEST_PERIOD_SECONDS = 3600

/** Of tasks that were never done. */
export function dueAtOnce(tasks: Tasks, now: number): DueTimes {
  return { mirror_at: tasks.mirror ? now : null, watch_at: tasks.watch ? now : null }
}

export interface Change {
  before: DelegationRow
  after: Tasks
  /** The newest first; those of the last hour at least. */
  runs: readonly { task: string; started_at: number }[]
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
    const last = runs.find((run) => run.task === task)
    return Math.max(now, (last?.started_at ?? 0) + SHORTEST_PERIOD_SECONDS)
  }
  return { mirror_at: due('mirror'), watch_at: due('watch') }
}
