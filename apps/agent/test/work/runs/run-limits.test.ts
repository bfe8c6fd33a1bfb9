import { seedFiles } from '@svc/testbed/seed-lockers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { LISTED_OF_A_KIND } from '../../../src/work/findings/finding-limits.ts'
import { insertRun } from '../../../src/work/runs/store.ts'
import { watch } from '../../../src/work/tasks/watch.ts'
import { DAY, newJob, openWorkshop, type Workshop } from '../work-stack.ts'

const YEAR = 365 * DAY

let workshop: Workshop
beforeAll(async () => {
  workshop = await openWorkshop()
})
afterAll(() => workshop.close())
afterEach(() => workshop.leaveAll())

const seconds = () => Math.floor(workshop.clock.now() / 1000)

describe('of a run that finds very much', () => {
  it('AGENT-04 each file whose bytes are gone is in the log in the end, so many with each run', async () => {
    const place = await workshop.place()
    await seedFiles(workshop.gateway.context, place.locker.locker_id, LISTED_OF_A_KIND + 3)
    await workshop.soon()
    const first = (await place.news()).filter(([kind]) => kind === 'bytes_missing')
    expect(first).toHaveLength(LISTED_OF_A_KIND + 1)
    expect(first.at(-1)).toEqual(['bytes_missing', { more: 3 }])
    await workshop.nextDay()
    const second = await place.news()
    expect(second.map(([kind]) => kind)).toEqual(Array.from({ length: 3 }, () => 'bytes_missing'))
    const named = [...first, ...second].flatMap(([, { filename }]) => filename ?? [])
    expect(new Set(named).size).toBe(LISTED_OF_A_KIND + 3)
    const { findings, alerts } = await workshop.read(place.owner, place.delegationId)
    expect([findings, alerts]).toEqual([LISTED_OF_A_KIND + 5, LISTED_OF_A_KIND + 4])
  })

  it('AGENT-04 the rest is counted also where the run is stopped', async () => {
    const place = await workshop.place({ watch: { every_hours: 24, read_bytes: false } })
    await workshop.soon()
    await place.news()
    await seedFiles(workshop.gateway.context, place.locker.locker_id, LISTED_OF_A_KIND + 5)
    const { identity } = place.owner
    const ending = workshop.context.database.db.updateTable('subscriptions').set({ expires_at: 0 })
    workshop.meanwhile(() => ending.where('identity', '=', identity).execute())
    await workshop.nextDay()
    expect((await place.runs())[0]).toMatchObject({ outcome: 'stopped' })
    expect((await place.news()).at(-1)).toEqual(['file_new', { more: 5 }])
  })
})

describe('of runs', () => {
  it('AGENT-04 T-11 the newest hundred of a task are kept', async () => {
    const place = await workshop.place()
    const { db } = workshop.context.database
    const run = { delegation_id: place.delegationId, outcome: 'done', summary: '{"statement":null}' } as const
    const old = seconds() - 10 * DAY
    const mirror = { task: 'mirror', run_id: `run_m_${place.delegationId}`, started_at: 0, finished_at: 1 } as const
    await insertRun(db, { ...run, ...mirror })
    for (let i = 0; i < 150; i++) {
      const times = { started_at: old + i, finished_at: old + i }
      await insertRun(db, { ...run, ...times, task: 'watch', run_id: `run_${i}_${place.delegationId}` })
    }
    await workshop.soon()
    const left = await db.selectFrom('runs').selectAll().where('delegation_id', '=', place.delegationId).execute()
    expect(left.filter(({ task }) => task === 'mirror')).toHaveLength(1)
    const watches = left.filter(({ task }) => task === 'watch').map(({ started_at }) => started_at)
    expect([watches.length, Math.min(...watches), Math.max(...watches)]).toEqual([100, old + 51, seconds()])
  })
})

describe('a clock that was a year ahead', () => {
  it('AGENT-04 does not keep a task from being done for a year, nor a file from being read', async () => {
    const place = await workshop.place()
    await place.put('file', 'bytes')
    await workshop.context.database.db
      .updateTable('subscriptions')
      .set({ expires_at: 2 ** 40 })
      .execute()
    workshop.clock.advance(YEAR)
    await workshop.soon()
    expect(await place.runs()).toHaveLength(1)
    workshop.clock.advance(-YEAR)
    await workshop.context.database.db.updateTable('schedules').set({ next_at: 0 }).execute()
    await workshop.lose(place, 'file')
    await workshop.soon()
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done', 'done'])
    expect((await place.news()).map(([kind]) => kind)).toEqual(['baseline', 'bytes_missing'])
  })
})

describe('a subscriber with much to be done', () => {
  it('T-10 has so many runs at once; others wait for the clock, and what has begun is gone on with', async () => {
    const place = await workshop.place()
    const whose = `watch ${place.owner.identity}`
    const { promise: busy, resolve: end } = Promise.withResolvers<void>()
    const running = Array.from({ length: 4 }, () => workshop.context.inTurn(whose, 4, () => busy))
    await workshop.soon()
    expect(await place.runs()).toEqual([])
    const job = newJob()
    const own = {
      run_id: `run_${job.id.replaceAll('-', '')}`,
      delegation_id: place.delegationId,
      task: 'watch',
    } as const
    await insertRun(workshop.context.database.db, {
      ...own,
      started_at: seconds(),
      finished_at: null,
      outcome: 'running',
      summary: '{}',
    })
    await watch(workshop.context, place.delegationId, job)
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done'])
    end()
    await Promise.all(running)
    await workshop.nextDay()
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  })
})
