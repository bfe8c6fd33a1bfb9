import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { TASK_ATTEMPTS } from '../../../src/work/runs/run-task.ts'
import { watch } from '../../../src/work/tasks/watch.ts'
import { startProcess } from '../../agent-process.ts'
import { DAY, newJob, openWorkshop, type Place, type Workshop } from '../work-stack.ts'

let workshop: Workshop
beforeAll(async () => {
  workshop = await openWorkshop()
})
afterAll(() => workshop.close())
afterEach(() => workshop.leaveAll())

/** Everything about the locker b, and whatever tells whether the gateway is there. */
const ABOUT_B = /"filenames":\["b"\]|\/v1\/storage\/metadata/

/** Requests since then, by what they are for. */
function countRequests(since: number) {
  const paths = workshop.between.seen.slice(since).map(({ path }) => path)
  const count = (pattern: RegExp) => paths.filter((path) => pattern.test(path)).length
  return { lists: count(/\/manifest/), statements: count(/\/storage\/verify/), reads: count(/^\/f\//) }
}

async function placeWithThreeFiles(every_hours = 24): Promise<Place> {
  const place = await workshop.place({ watch: { every_hours, read_bytes: true } })
  for (const name of ['a', 'b', 'c']) await place.put(name, name)
  return place
}

describe('a watch', () => {
  it('AGENT-04 goes on where it was when the gateway is there again, and repeats nothing', async () => {
    const place = await placeWithThreeFiles()
    const begun = workshop.between.seen.length
    workshop.between.always(ABOUT_B, { cut: 'request' })
    expect(await workshop.soon()).toMatchObject({ failed: 1, dead: 0 })
    expect(countRequests(begun)).toEqual({ lists: 1, statements: 1, reads: 1 })
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['running'])
    workshop.between.behave()
    await workshop.overwrite(place, 'c', 'C')
    workshop.clock.advance(600)
    await workshop.drain()
    expect(countRequests(begun)).toEqual({ lists: 1, statements: 1, reads: 3 })
    const runs = await place.runs()
    expect(runs.map(({ outcome }) => outcome)).toEqual(['done'])
    expect(JSON.parse(runs[0]!.summary)).toMatchObject({ read: 3, bytes_read: 3 })
    expect((await place.news()).map(([kind]) => kind)).toEqual(['baseline', 'bytes_differ'])
  })

  it('AGENT-04 has nothing to say of the locker while the gateway is away; in the end it has failed', async () => {
    const place = await placeWithThreeFiles(100)
    workshop.between.always(/./, { cut: 'request' })
    const begun = Math.floor(workshop.clock.now() / 1000) + 60
    expect(await workshop.soon()).toMatchObject({ failed: 1 })
    for (let attempt = 2; attempt <= TASK_ATTEMPTS; attempt++) {
      workshop.clock.advance(2 * 3600)
      await workshop.drain()
    }
    expect(await place.log()).toEqual([])
    const [run, ...more] = await place.runs()
    expect([run, more]).toMatchObject([{ outcome: 'failed', started_at: begun }, []])
    expect(JSON.parse(run!.summary)).toEqual({ reason: 'gateway_unavailable' })
    expect(await workshop.context.queue.deadLetters()).toEqual([])
    workshop.between.behave()
    workshop.clock.advance(100 * 3600)
    await workshop.drain()
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done', 'failed'])
    expect((await place.news()).map(([kind]) => kind)).toEqual(['baseline'])
  })

  it('AGENT-04 that has to be given back is left as it is, however often it was tried', async () => {
    const place = await placeWithThreeFiles()
    const leaving = new AbortController()
    workshop.meanwhile(async () => leaving.abort())
    const job = { ...newJob(), attempt: TASK_ATTEMPTS, signal: leaving.signal }
    await expect(watch(workshop.context, place.delegationId, job)).rejects.toThrow(/abort/)
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['running'])
    const again = { ...job, signal: new AbortController().signal }
    await watch(workshop.context, place.delegationId, again)
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done'])
    await watch(workshop.context, place.delegationId, again)
    expect(await place.runs()).toHaveLength(1)
  })

  it('AGENT-04 is done by one job, also where two come for it at once', async () => {
    const place = await placeWithThreeFiles()
    const begun = workshop.between.seen.length
    await Promise.all([1, 2, 3].map(() => watch(workshop.context, place.delegationId, newJob())))
    expect(countRequests(begun)).toEqual({ lists: 1, statements: 1, reads: 3 })
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done'])
  })

  it('AGENT-04 that another process does meanwhile, as far as it gets, finds nothing a second time', async () => {
    const place = await placeWithThreeFiles()
    let job = newJob()
    const doTheSame = async () => {
      workshop.between.always(ABOUT_B, { cut: 'request' })
      await expect(watch(workshop.context, place.delegationId, job)).rejects.toThrow('no answer')
      workshop.between.behave()
    }
    workshop.meanwhile(doTheSame)
    await watch(workshop.context, place.delegationId, job)
    expect((await place.news()).map(([kind]) => kind)).toEqual(['baseline'])

    for (const text of ['1', '2', '3']) {
      await place.put('a', text)
      await place.client.attest(place.locker)
    }
    workshop.clock.advance(DAY)
    job = newJob()
    // The second time it looks at a statement, when it knows what it has to look at.
    workshop.meanwhile(async () => workshop.meanwhile(doTheSame))
    await watch(workshop.context, place.delegationId, job)
    const found = ['file_changed', 'statement_new', 'statement_new', 'statement_new']
    expect((await place.news()).map(([kind]) => kind)).toEqual(found)
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  })

  it('AGENT-04 that nobody ended, since its last job was lost, is taken up again after days', async () => {
    const place = await placeWithThreeFiles()
    workshop.between.always(ABOUT_B, { cut: 'request' })
    await workshop.soon()
    await workshop.context.database.db.deleteFrom('jobs').where('kind', '=', 'watch').execute()
    workshop.between.behave()
    await workshop.nextDay()
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['running'])
    await workshop.nextDay()
    await workshop.nextDay()
    expect((await place.runs()).at(-1)).toMatchObject({ outcome: 'done' })
  })

  it('AGENT-04 of a process that is killed in the middle is ended by the next one, and repeats nothing', async () => {
    const place = await placeWithThreeFiles()
    const { db } = workshop.context.database
    await db
      .updateTable('subscriptions')
      .set({ expires_at: 2 ** 40 })
      .execute()
    const begun = workshop.between.seen.length
    workshop.between.always(ABOUT_B, { cut: 'request' })
    const other = await startProcess(workshop)
    await expect.poll(() => countRequests(begun).reads).toBe(1)
    const refused = workshop.between.seen.length
    await expect.poll(() => workshop.between.seen.length).toBeGreaterThan(refused)
    await other.kill()

    const killed = workshop.between.seen.length
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['running'])
    workshop.between.behave()
    // The other process lived by the clock on the wall.
    workshop.clock.advance((Date.now() - workshop.clock.now()) / 1000 + 600)
    await workshop.drain()
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done'])
    expect(countRequests(killed)).toEqual({ lists: 0, statements: 0, reads: 2 })
    expect((await place.news()).map(([kind]) => kind)).toEqual(['baseline'])
  })
})
