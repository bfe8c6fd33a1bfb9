import type { RequestListener } from 'node:http'
import { writable } from '@svc/devnet/writable'
import { openSource } from '@svc/service/outgoing/open-source'
import { startTestTlsServer, type TestTlsServer } from '@svc/service/test/outgoing/tls-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startAgentProcess } from '../../agent-process.ts'
import { processVariables, type TestDelegation, useWorkStack } from '../work-stack.ts'

let server: TestTlsServer
const stack = useWorkStack()
let answer: RequestListener
beforeAll(async () => {
  answer = (request, response) => response.end(`of ${request.url}`)
  server = await startTestTlsServer((request, response) => answer(request, response))
  stack.gateway.context.fetchSource = (url) => openSource(url, server.options)
})
afterAll(() => server.stop())

const NAMES = ['a', 'b', 'c']
const sources = NAMES.map((name) => ({ url: `https://files.example.test/${name}`, filename: `mirror/${name}` }))
const asked = () => server.requests.splice(0).map((address) => address.at(-1))

/** Another process works until the request for a file stalls, on its way there or back, and is then killed. */
async function killAt(filename: string, stall: 'request' | 'answer'): Promise<void> {
  const { proxy, context } = stack
  const isFetched = () => server.requests.some((address) => filename.endsWith(address.at(-1)!))
  let isStuck = false
  proxy.always(new RegExp(filename), () => {
    isStuck = true
    return { stall }
  })
  const other = await startAgentProcess(processVariables(stack))
  await expect.poll(() => isStuck && (stall === 'request' || isFetched())).toBe(true)
  await other.kill()
  proxy.behave()
  // As if the lease of its job had expired.
  await writable(context.database.db).updateTable('jobs').set({ due_at: 0 }).where('kind', '=', 'mirror').execute()
}

/** Makes the task due and its job found, according to either clock. */
async function makeDue({ id }: TestDelegation): Promise<void> {
  const { db } = stack.context.database
  await writable(db)
    .updateTable('subscriptions')
    .set({ expires_at: 2 ** 40 })
    .execute()
  await writable(db).updateTable('schedules').set({ next_at: 0 }).execute()
  await writable(db).updateTable('delegations').set({ mirror_at: 0 }).where('delegation_id', '=', id).execute()
}

async function filesOf({ client, locker }: TestDelegation): Promise<string[]> {
  const texts: string[] = []
  for await (const { filename } of client.files(locker)) {
    const bytes = await (await client.get(locker, filename)).bytes()
    texts.push(`${filename}: ${Buffer.from(bytes)}`)
  }
  return texts
}

/** The processes used the real clock. */
async function finish(): Promise<void> {
  await stack.advanceAndRun((Date.now() - stack.clock.now()) / 1000 + 600)
}

it('AGENT-04 FILE-26 a mirror whose process is killed at any step is finished by the next, with one file per source', {
  tags: ['nightly'],
}, async () => {
  const delegation = await stack.addDelegation({ mirror: { sources, every_hours: 24 } })
  await makeDue(delegation)
  await killAt('mirror/a', 'request')
  expect([asked(), await filesOf(delegation)]).toEqual([[], []])
  await killAt('mirror/b', 'answer')
  expect(asked()).toEqual(['a', 'b'])
  expect(await delegation.outcomes()).toEqual(['running'])
  await finish()
  expect(asked()).toEqual(['b', 'c'])
  const [run, ...more] = await delegation.runs()
  expect([run, more]).toMatchObject([{ outcome: 'done' }, []])
  expect(JSON.parse(run!.summary)).toEqual({ fetched: 3, changed: 0 })
  expect(await filesOf(delegation)).toEqual(NAMES.map((name) => `mirror/${name}: of /${name}`))
  expect(await delegation.newFindings()).toEqual([])

  answer = (request, response) => response.end(request.url === '/c' ? 'news' : `of ${request.url}`)
  await makeDue(delegation)
  await killAt('mirror/c', 'answer')
  expect([asked(), await delegation.newFindings()]).toEqual([NAMES, []])
  await finish()
  expect(asked()).toEqual(['c'])
  expect(await filesOf(delegation)).toEqual(['mirror/a: of /a', 'mirror/b: of /b', 'mirror/c: news'])
  expect(await delegation.newFindings()).toMatchObject([['mirror_changed', { filename: 'mirror/c' }]])
  expect(await delegation.outcomes()).toEqual(['done', 'done'])
  expect((await stack.context.queue.counts()).mirror).toMatchObject({ running: 0, waiting: 0, delayed: 0, dead: 0 })
})
