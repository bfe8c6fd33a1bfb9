import type { Tasks } from '@svc/api/agent/tasks'
import { describe, expect, it } from 'vitest'
import type { DelegationRow } from '../../src/db/schema.ts'
import { dueAfterChange, firstDueTimes } from '../../src/delegations/due-times.ts'
import type { LastRun } from '../../src/delegations/store.ts'

const NOW = 1_800_000_000
const HOUR = 3600
const WATCH = { every_hours: 24, read_bytes: true }
const mirror = (filename: string) => ({ sources: [{ url: 'https://files.example/', filename }], every_hours: 24 })

function dueOf(before: Tasks, after: Tasks, runs: LastRun[] = []) {
  const row = { tasks: JSON.stringify(before), mirror_at: NOW + 1000, watch_at: NOW + 2000 } as DelegationRow
  return dueAfterChange({ before: row, after, runs, now: NOW })
}

describe('due times', () => {
  it('AGENT-04 the tasks of a new delegation are due immediately', () => {
    expect(firstDueTimes({ watch: WATCH }, [], NOW)).toEqual({ mirror_at: null, watch_at: NOW })
    expect(firstDueTimes({ mirror: mirror('a') }, [], NOW)).toEqual({ mirror_at: NOW, watch_at: null })
  })

  it('AGENT-04 unchanged tasks keep their time, changed tasks are due immediately, and removed tasks are never due', () => {
    const both = { mirror: mirror('a'), watch: WATCH }
    expect(dueOf(both, both)).toEqual({ mirror_at: NOW + 1000, watch_at: NOW + 2000 })
    expect(dueOf(both, { ...both, mirror: mirror('b') })).toEqual({ mirror_at: NOW, watch_at: NOW + 2000 })
    expect(dueOf({ watch: WATCH }, both)).toEqual({ mirror_at: NOW, watch_at: NOW + 2000 })
    expect(dueOf(both, { mirror: mirror('a') })).toEqual({ mirror_at: NOW + 1000, watch_at: null })
  })

  it('AGENT-04 T-10 a changed task is due no sooner than an hour after its last run began', () => {
    const runs: LastRun[] = [
      { task: 'mirror', started_at: NOW - 60 },
      { task: 'watch', started_at: NOW - 10 },
      { task: 'watch', started_at: NOW - 2 * HOUR },
    ]
    const changed = { watch: { ...WATCH, every_hours: 1 } }
    expect(dueOf({ watch: WATCH }, changed, runs)).toEqual({ mirror_at: null, watch_at: NOW - 10 + HOUR })
    expect(dueOf({ mirror: mirror('a') }, changed, runs)).toEqual({ mirror_at: null, watch_at: NOW - 10 + HOUR })
    expect(dueOf({ watch: WATCH }, changed, runs.slice(2))).toEqual({ mirror_at: null, watch_at: NOW })
  })

  it('AGENT-04 T-10 a locker that is delegated again is due no sooner than an hour after its last run', () => {
    const runs: LastRun[] = [{ task: 'watch', started_at: NOW - 10 }]
    const both = { mirror: mirror('a'), watch: WATCH }
    expect(firstDueTimes(both, runs, NOW)).toEqual({ mirror_at: NOW, watch_at: NOW - 10 + HOUR })
    expect(firstDueTimes(both, [{ task: 'watch', started_at: NOW - 2 * HOUR }], NOW).watch_at).toBe(NOW)
  })

  it('AGENT-04 a run that a wrong clock dated in the future does not delay the next one', () => {
    const runs: LastRun[] = [{ task: 'watch', started_at: NOW + 365 * 24 * HOUR }]
    expect(firstDueTimes({ watch: WATCH }, runs, NOW).watch_at).toBe(NOW)
  })
})
