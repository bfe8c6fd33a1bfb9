import { text } from 'node:stream/consumers'
import { forEachDatabase } from '@svc/devnet/databases'
import { isFindingChain } from '@svc/protocol/finding'
import { openSource } from '@svc/service/outgoing/open-source'
import { SOURCE, startTestTlsServer, type TestTlsServer } from '@svc/service/test/outgoing/tls-server'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postWebhook } from '../src/work/findings/webhook-request.ts'
import { DAY, useWorkStack } from './work/work-stack.ts'

forEachDatabase('the jobs of an agent service', (database) => {
  const reported: string[] = []
  let server: TestTlsServer
  let mirrored = 'first'
  const stack = useWorkStack(() => ({ DATABASE_URL: database.url }), {
    postWebhook: (url, message) => postWebhook(url, message, server.options),
  })
  beforeAll(async () => {
    server = await startTestTlsServer(async (request, response) => {
      if (request.method === 'POST') reported.push(JSON.parse(await text(request)).finding.kind)
      response.end(mirrored)
    })
    stack.gateway.context.fetchSource = (url) => openSource(url, server.options)
  })
  afterAll(() => server.stop())

  it('AGENT-04 mirror, watch and report by webhook, day after day', { tags: ['nightly'] }, async () => {
    const delegation = await stack.addDelegation({
      mirror: { sources: [{ url: SOURCE, filename: 'mirrored' }], every_hours: 24 },
      watch: { every_hours: 24, read_bytes: true },
      tell: { url: 'https://other.example.test/hook' },
    })
    for (const name of ['a', 'b', 'c']) await delegation.put(name, name)
    await stack.nextMinute()
    expect(await delegation.newKinds()).toEqual(['baseline'])

    mirrored = 'second'
    await delegation.put('a', 'A')
    await delegation.put('d', 'd')
    await delegation.client.remove(delegation.locker, 'b')
    await stack.deleteStored(delegation, 'c')
    await delegation.client.attest(delegation.locker)
    stack.proxy.plan(/\/storage\/verify/, ...Array.from({ length: 5 }, () => ({ cut: 'request' }) as const))
    await stack.nextDay()
    await stack.advanceAndRun(600)
    const found = ['mirror_changed', 'file_new', 'file_changed', 'file_gone', 'statement_new', 'bytes_missing']
    expect(await delegation.newKinds()).toEqual(found)
    expect(isFindingChain(await delegation.log())).toBe(true)

    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
    expect(reported.toSorted()).toEqual(['baseline', ...found].toSorted())
    const { runs, findings, alerts } = await stack.readDelegation(delegation.owner, delegation.id)
    expect(runs.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'done'))
    expect([findings, alerts]).toEqual([7, 1])
  })

  it('AGENT-04 start a due run only once, however often it is found', async () => {
    const delegations = [await stack.addDelegation(), await stack.addDelegation()]
    const idle = await stack.addDelegation({ mirror: { sources: [{ url: SOURCE, filename: 'm' }], every_hours: 720 } })
    stack.clock.advance(DAY)
    const waiting = async () => {
      const { watch, mirror } = await stack.context.queue.counts()
      return [watch?.waiting, mirror?.waiting]
    }
    for (let time = 0; time < 3; time++) {
      await stack.agent.modules.work.enqueueDue()
      expect(await waiting()).toEqual([2, 1])
    }
    await stack.runJobs()
    await stack.agent.modules.work.enqueueDue()
    expect(await waiting()).toEqual([0, 0])
    for (const delegation of [...delegations, idle]) expect(await delegation.runs()).toHaveLength(1)
  })
})
