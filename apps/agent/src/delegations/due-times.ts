import type { Tasks } from '@svc/api/agent/tasks'
import type { DelegationRow } from '../db/schema.ts'
import type { DueTimes, LastRun } from './store.ts'

const SHORTEST_PERIOD_SECONDS = 3600

/**
 * The tasks of a new delegation are due immediately, but no sooner than one period after the last run at the same
 * locker: repeated delegations must not cause more work.
 */
export function firstDueTimes(tasks: Tasks, runs: readonly LastRun[], now: number): DueTimes {
  const due = (task: LastRun['task']) => (tasks[task] ? dueAfter(runs, task, now) : null)
  return { mirror_at: due('mirror'), watch_at: due('watch') }
}

/** Immediately, or one shortest period after the last run. Ignores runs that a wrong clock dated in the future. */
function dueAfter(runs: readonly LastRun[], task: LastRun['task'], now: number): number {
  const last = runs.find((run) => run.task === task && run.started_at <= now)
  return Math.max(now, (last?.started_at ?? 0) + SHORTEST_PERIOD_SECONDS)
}

export interface Change {
  before: DelegationRow
  after: Tasks
  /** Newest first; at least those of the last hour. */
  runs: readonly LastRun[]
  /** Unix seconds. */
  now: number
}

/**
 * A new or changed task is due immediately, but never twice within the shortest period: changing tasks back and forth
 * must not cause endless work. An unchanged task keeps its time.
 */
export function dueAfterChange({ before, after, runs, now }: Change): DueTimes {
  const previous: Tasks = JSON.parse(before.tasks)
  const due = (task: 'mirror' | 'watch') => {
    if (!after[task]) return null
    if (JSON.stringify(after[task]) === JSON.stringify(previous[task])) return before[`${task}_at`]
    return dueAfter(runs, task, now)
  }
  return { mirror_at: due('mirror'), watch_at: due('watch') }
}
