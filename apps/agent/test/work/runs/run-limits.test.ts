import type { JobRun } from '@svc/queue/queue'
import { seedFiles } from '@svc/testbed/seed-lockers'
import { describe, expect, it } from 'vitest'
import { type FindingCounts, MAX_LISTED_PER_KIND } from '../../../src/work/findings/finding-limits.ts'
import { insertRun } from '../../../src/work/runs/store.ts'
import { DAY, newJob, type TestDelegation, useWorkStack } from '../work-stack.ts'

const YEAR = 365 * DAY

const stack = useWorkStack()

/** A watch that has begun and has these findings; returns its job. */
async function beginWatch({ id }: TestDelegation, found: FindingCounts = {}): Promise<JobRun> {
  const job = newJob()
  await insertRun(stack.context.database.db, {
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
  it('AGENT-04 lists up to the limit of missing files, and later runs list the rest', {
    tags: ['nightly'],
  }, async () => {
    const delegation = await stack.addDelegation()
    await seedFiles(stack.gateway.context, delegation.locker.locker_id, 5)
    // The run has already listed all but three of the missing files it may list.
    const job = await beginWatch(delegation, { bytes_missing: MAX_LISTED_PER_KIND - 3 })
    await stack.watch(delegation, job)
    const first = (await delegation.newFindings()).filter(([kind]) => kind === 'bytes_missing')
    expect(first).toHaveLength(3 + 1)
    expect(first.at(-1)).toEqual(['bytes_missing', { more: 2 }])
    await stack.nextDay()
    const second = await delegation.newFindings()
    expect(second.map(([kind]) => kind)).toEqual(['bytes_missing', 'bytes_missing'])
    const named = [...first, ...second].flatMap(([, { filename }]) => filename ?? [])
    expect(new Set(named).size).toBe(5)
    const { findings, alerts } = await stack.readDelegation(delegation.owner, delegation.id)
    expect([findings, alerts]).toEqual([7, 6])
  })

  it('AGENT-04 counts the unlisted findings even when it is stopped', { tags: ['nightly'] }, async () => {
    const delegation = await stack.addDelegation({ watch: { every_hours: 24, read_bytes: false } })
    await stack.nextMinute()
    await delegation.newFindings()
    await seedFiles(stack.gateway.context, delegation.locker.locker_id, MAX_LISTED_PER_KIND + 5)
    const { identity } = delegation.owner
    const ending = stack.context.database.db.updateTable('subscriptions').set({ expires_at: 0 })
    stack.duringNextWatch(() => ending.where('identity', '=', identity).execute())
    await stack.nextDay()
    expect((await delegation.runs())[0]).toMatchObject({ outcome: 'stopped' })
    expect((await delegation.newFindings()).at(-1)).toEqual(['file_new', { more: 5 }])
  })
})

describe('old runs', () => {
  it('AGENT-04 T-11 are deleted except for the newest hundred of each task', async () => {
    const delegation = await stack.addDelegation()
    const { db } = stack.context.database
    const run = { delegation_id: delegation.id, outcome: 'done', summary: '{"statement":null}' } as const
    const old = stack.clock.seconds() - 10 * DAY
    const mirror = { task: 'mirror', run_id: `run_m_${delegation.id}`, started_at: 0, finished_at: 1 } as const
    await insertRun(db, { ...run, ...mirror })
    for (let i = 0; i < 150; i++) {
      const times = { started_at: old + i, finished_at: old + i }
      await insertRun(db, { ...run, ...times, task: 'watch', run_id: `run_${i}_${delegation.id}` })
    }
    await stack.nextMinute()
    const left = await db.selectFrom('runs').selectAll().where('delegation_id', '=', delegation.id).execute()
    expect(left.filter(({ task }) => task === 'mirror')).toHaveLength(1)
    const watches = left.filter(({ task }) => task === 'watch').map(({ started_at }) => started_at)
    expect([watches.length, Math.min(...watches), Math.max(...watches)]).toEqual([100, old + 51, stack.clock.seconds()])
  })
})

describe('a clock that was a year ahead', () => {
  it('AGENT-04 does not delay tasks or the reading of files for a year', async () => {
    const delegation = await stack.addDelegation()
    await delegation.put('file', 'bytes')
    await stack.context.database.db
      .updateTable('subscriptions')
      .set({ expires_at: 2 ** 40 })
      .execute()
    stack.clock.advance(YEAR)
    await stack.nextMinute()
    expect(await delegation.runs()).toHaveLength(1)
    stack.clock.advance(-YEAR)
    await stack.context.database.db.updateTable('schedules').set({ next_at: 0 }).execute()
    await stack.deleteStored(delegation, 'file')
    await stack.nextMinute()
    expect(await delegation.outcomes()).toEqual(['done', 'done'])
    expect(await delegation.newKinds()).toEqual(['baseline', 'bytes_missing'])
  })
})

describe('a subscriber with much work', () => {
  it('T-10 has a limited number of runs at once, and a run that has begun is continued', async () => {
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
