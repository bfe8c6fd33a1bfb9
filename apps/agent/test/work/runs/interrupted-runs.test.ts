import { writable } from '@svc/devnet/writable'
import { describe, expect, it } from 'vitest'
import { TASK_ATTEMPTS } from '../../../src/work/runs/run-task.ts'
import { startAgentProcess } from '../../agent-process.ts'
import { DAY, newJob, processVariables, type TestDelegation, useWorkStack } from '../work-stack.ts'

const stack = useWorkStack()

/** Requests about the file b, and the ones that check whether the gateway responds. */
const ABOUT_B = /"filenames":\["b"\]|\/v1\/storage\/metadata/

/** Counts later requests by purpose. */
function countRequests(since: number) {
  const paths = stack.proxy.seen.slice(since).map(({ path }) => path)
  const count = (pattern: RegExp) => paths.filter((path) => pattern.test(path)).length
  return { lists: count(/\/manifest/), statements: count(/\/storage\/verify/), reads: count(/^\/f\//) }
}

async function delegateThreeFiles(every_hours = 24): Promise<TestDelegation> {
  const delegation = await stack.addDelegation({ watch: { every_hours, read_bytes: true } })
  for (const name of ['a', 'b', 'c']) await delegation.put(name, name)
  return delegation
}

describe('a watch', () => {
  it('AGENT-04 continues where it stopped when the gateway responds again, and repeats nothing', async () => {
    const delegation = await delegateThreeFiles()
    const startCount = stack.proxy.seen.length
    stack.proxy.always(ABOUT_B, { cut: 'request' })
    expect(await stack.nextMinute()).toMatchObject({ failed: 1, dead: 0 })
    expect(countRequests(startCount)).toEqual({ lists: 1, statements: 1, reads: 1 })
    expect(await delegation.outcomes()).toEqual(['running'])
    stack.proxy.behave()
    await stack.overwriteStored(delegation, 'c', 'C')
    await stack.advanceAndRun(600)
    expect(countRequests(startCount)).toEqual({ lists: 1, statements: 1, reads: 3 })
    const runs = await delegation.runs()
    expect(runs.map(({ outcome }) => outcome)).toEqual(['done'])
    expect(JSON.parse(runs[0]!.summary)).toMatchObject({ read: 3, bytes_read: 3 })
    expect(await delegation.newKinds()).toEqual(['baseline', 'bytes_differ'])
  })

  it('AGENT-04 fails after its last attempt without findings when the gateway stays unavailable', {
    tags: ['nightly'],
  }, async () => {
    const delegation = await delegateThreeFiles(100)
    stack.proxy.always(/./, { cut: 'request' })
    const startCount = stack.clock.seconds() + 60
    expect(await stack.nextMinute()).toMatchObject({ failed: 1 })
    for (let attempt = 2; attempt <= TASK_ATTEMPTS; attempt++) await stack.advanceAndRun(2 * 3600)
    expect(await delegation.log()).toEqual([])
    const [run, ...more] = await delegation.runs()
    expect([run, more]).toMatchObject([{ outcome: 'failed', started_at: startCount }, []])
    expect(JSON.parse(run!.summary)).toEqual({ reason: 'gateway_unavailable' })
    expect(await stack.context.queue.deadLetters()).toEqual([])
    stack.proxy.behave()
    await stack.advanceAndRun(100 * 3600)
    expect(await delegation.outcomes()).toEqual(['done', 'failed'])
    expect(await delegation.newKinds()).toEqual(['baseline'])
  })

  it('AGENT-04 stays unfinished when its process stops, even at the last attempt', async () => {
    const delegation = await delegateThreeFiles()
    const leaving = new AbortController()
    stack.duringNextWatch(async () => leaving.abort())
    const job = { ...newJob(), attempt: TASK_ATTEMPTS, signal: leaving.signal }
    await expect(stack.watch(delegation, job)).rejects.toThrow(/abort/)
    expect(await delegation.outcomes()).toEqual(['running'])
    const retried = { ...job, signal: new AbortController().signal }
    await stack.watch(delegation, retried)
    expect(await delegation.outcomes()).toEqual(['done'])
    await stack.watch(delegation, retried)
    expect(await delegation.runs()).toHaveLength(1)
  })

  it('AGENT-04 is performed by only one of several concurrent jobs', async () => {
    const delegation = await delegateThreeFiles()
    const startCount = stack.proxy.seen.length
    await Promise.all([1, 2, 3].map(() => stack.watch(delegation)))
    expect(countRequests(startCount)).toEqual({ lists: 1, statements: 1, reads: 3 })
    expect(await delegation.outcomes()).toEqual(['done'])
  })

  it('AGENT-04 reports nothing twice when another process performs part of the same run', async () => {
    const delegation = await delegateThreeFiles()
    let job = newJob()
    const doTheSame = async () => {
      stack.proxy.always(ABOUT_B, { cut: 'request' })
      await expect(stack.watch(delegation, job)).rejects.toThrow('no answer')
      stack.proxy.behave()
    }
    stack.duringNextWatch(doTheSame)
    await stack.watch(delegation, job)
    expect(await delegation.newKinds()).toEqual(['baseline'])

    for (const text of ['1', '2', '3']) {
      await delegation.put('a', text)
      await delegation.client.attest(delegation.locker)
    }
    stack.clock.advance(DAY)
    job = newJob()
    // On the second read of a statement, when the watch knows which statements it needs.
    stack.duringNextWatch(async () => stack.duringNextWatch(doTheSame))
    await stack.watch(delegation, job)
    const found = ['file_changed', 'statement_new', 'statement_new', 'statement_new']
    expect(await delegation.newKinds()).toEqual(found)
    expect(await delegation.outcomes()).toEqual(['done', 'done'])
  })

  it('AGENT-04 is continued after days when its job was lost', async () => {
    const delegation = await delegateThreeFiles()
    stack.proxy.always(ABOUT_B, { cut: 'request' })
    await stack.nextMinute()
    await writable(stack.context.database.db).deleteFrom('jobs').where('kind', '=', 'watch').execute()
    stack.proxy.behave()
    await stack.nextDay()
    expect(await delegation.outcomes()).toEqual(['running'])
    await stack.nextDay()
    await stack.nextDay()
    expect((await delegation.runs()).at(-1)).toMatchObject({ outcome: 'done' })
  })

  it('AGENT-04 is finished by another process when its own is killed, and repeats nothing', {
    tags: ['nightly'],
  }, async () => {
    const delegation = await delegateThreeFiles()
    const { db } = stack.context.database
    await writable(db)
      .updateTable('subscriptions')
      .set({ expires_at: 2 ** 40 })
      .execute()
    const startCount = stack.proxy.seen.length
    stack.proxy.always(ABOUT_B, { cut: 'request' })
    const other = await startAgentProcess(processVariables(stack))
    await expect.poll(() => countRequests(startCount).reads).toBe(1)
    const failedCount = stack.proxy.seen.length
    await expect.poll(() => stack.proxy.seen.length).toBeGreaterThan(failedCount)
    await other.kill()

    const killedCount = stack.proxy.seen.length
    expect(await delegation.outcomes()).toEqual(['running'])
    stack.proxy.behave()
    // The other process used the real clock.
    await stack.advanceAndRun((Date.now() - stack.clock.now()) / 1000 + 600)
    expect(await delegation.outcomes()).toEqual(['done'])
    expect(countRequests(killedCount)).toEqual({ lists: 0, statements: 0, reads: 2 })
    expect(await delegation.newKinds()).toEqual(['baseline'])
  })
})
