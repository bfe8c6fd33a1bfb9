import type { JobRun } from '@svc/database/queue/queue'
import { seedFiles } from '@svc/devnet/services/seed-lockers'
import { writable } from '@svc/devnet/writable'
import { describe, expect, it } from 'vitest'
import { type FindingCounts, MAX_LISTED_PER_KIND } from '../../../src/work/findings/finding-limits.ts'
import { insertRun } from '../../../src/work/runs/store.ts'
import { DAY, newJob, type TestDelegation, useWorkStack } from '../work-stack.ts'

const stack = useWorkStack()

/** Begins a watch with these findings; returns its job. */
async function beginWatch({ id }: TestDelegation, found: FindingCounts = {}): Promise<JobRun> {
  const job = newJob()
  await insertRun(writable(stack.context.database.db), {
    run_id: `run_${job.id.replaceAll('-', '')}`,
    delegation_id: id,
    task: 'watch',
    started_at: stack.clock.seconds(),
    finished_at: null,
    outcome: 'running',
    summary: '{}',
    found: JSON.stringify(found),
  })
  return job
}

describe('a run with very many findings', () => {
  it('AGENT-04 counts the unlisted findings even when it is stopped', { tags: ['nightly'] }, async () => {
    const delegation = await stack.addDelegation({ watch: { every_hours: 24, read_bytes: false } })
    await stack.nextMinute()
    await delegation.newFindings()
    await seedFiles(stack.gateway.context, delegation.locker.locker_id, MAX_LISTED_PER_KIND + 5)
    const { identity } = delegation.owner
    const ending = writable(stack.context.database.db).updateTable('subscriptions').set({ expires_at: 0 })
    stack.duringNextWatch(() => ending.where('identity', '=', identity).execute())
    await stack.nextDay()
    expect((await delegation.runs())[0]).toMatchObject({ outcome: 'stopped' })
    expect((await delegation.newFindings()).at(-1)).toEqual(['file_new', { more: 5 }])
  })
})

describe('old runs', () => {
  it('AGENT-04 T-11 are deleted, except the newest hundred of each task', async () => {
    const delegation = await stack.addDelegation()
    const { db } = stack.context.database
    const run = { delegation_id: delegation.id, outcome: 'done', summary: '{"statement":null}' } as const
    const old = stack.clock.seconds() - 10 * DAY
    const mirror = { task: 'mirror', run_id: `run_m_${delegation.id}`, started_at: 0, finished_at: 1 } as const
    await insertRun(writable(db), { ...run, ...mirror })
    for (let i = 0; i < 150; i++) {
      const times = { started_at: old + i, finished_at: old + i }
      await insertRun(writable(db), { ...run, ...times, task: 'watch', run_id: `run_${i}_${delegation.id}` })
    }
    await stack.nextMinute()
    const remaining = await db.selectFrom('runs').selectAll().where('delegation_id', '=', delegation.id).execute()
    expect(remaining.filter(({ task }) => task === 'mirror')).toHaveLength(1)
    const watches = remaining.filter(({ task }) => task === 'watch').map(({ started_at }) => started_at)
    expect([watches.length, Math.min(...watches), Math.max(...watches)]).toEqual([100, old + 51, stack.clock.seconds()])
  })
})

describe('a subscriber with much work', () => {
  it('T-10 has a limited number of concurrent runs, and a run that has begun continues', async () => {
    const delegation = await stack.addDelegation()
    const whose = `watch ${delegation.owner.identity}`
    const { promise: busy, resolve: end } = Promise.withResolvers<void>()
    const running = Array.from({ length: 4 }, () => stack.context.withSlot(whose, 4, () => busy))
    await stack.nextMinute()
    expect(await delegation.runs()).toEqual([])
    const job = await beginWatch(delegation)
    await stack.watch(delegation, job)
    expect(await delegation.outcomes()).toEqual(['done'])
    end()
    await Promise.all(running)
    await stack.nextDay()
    expect(await delegation.outcomes()).toEqual(['done', 'done'])
  })
})
