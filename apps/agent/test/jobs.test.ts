import { text } from 'node:stream/consumers'
import { forEachDatabase } from '@svc/devnet/databases'
import { openSource } from '@svc/outgoing/open-source'
import { SOURCE, startTestTlsServer, type TestTlsServer } from '@svc/outgoing/test/tls-server'
import { isFindingChain } from '@svc/protocol/finding'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { enqueueDueWork } from '../src/work/due-work.ts'
import { postWebhook } from '../src/work/post-webhook.ts'
import { DAY, openWorkshop, type Workshop } from './work/work-stack.ts'

forEachDatabase('the work of an agent', (database) => {
  const told: string[] = []
  let server: TestTlsServer
  let workshop: Workshop
  let mirrored = 'first'
  beforeAll(async () => {
    server = await startTestTlsServer(async (request, response) => {
      if (request.method === 'POST') told.push(JSON.parse(await text(request)).finding.kind)
      response.end(mirrored)
    })
    workshop = await openWorkshop(
      { DATABASE_URL: database.url },
      { postWebhook: (url, message) => postWebhook(url, message, server.options) },
    )
    workshop.gateway.context.fetchSource = (url) => openSource(url, server.options)
  })
  afterAll(async () => {
    await workshop.close()
    await server.stop()
  })

  it('AGENT-04 is to mirror, to watch and to tell, day by day', async () => {
    const place = await workshop.place({
      mirror: { sources: [{ url: SOURCE, filename: 'mirrored' }], every_hours: 24 },
      watch: { every_hours: 24, read_bytes: true },
      tell: { url: 'https://other.example.test/hook' },
    })
    for (const name of ['a', 'b', 'c']) await place.put(name, name)
    await workshop.soon()
    expect((await place.news()).map(([kind]) => kind)).toEqual(['baseline'])

    mirrored = 'second'
    await place.put('a', 'A')
    await place.put('d', 'd')
    await place.client.remove(place.locker, 'b')
    await workshop.lose(place, 'c')
    await place.client.attest(place.locker)
    workshop.between.plan(/\/storage\/verify/, ...Array.from({ length: 5 }, () => ({ cut: 'request' }) as const))
    await workshop.nextDay()
    workshop.clock.advance(600)
    await workshop.drain()
    const found = ['mirror_changed', 'file_new', 'file_changed', 'file_gone', 'statement_new', 'bytes_missing']
    expect((await place.news()).map(([kind]) => kind)).toEqual(found)
    expect(isFindingChain(await place.log())).toBe(true)

    await workshop.nextDay()
    expect(await place.news()).toEqual([])
    expect(told.toSorted()).toEqual(['baseline', ...found].toSorted())
    const { runs, findings, alerts } = await workshop.read(place.owner, place.delegationId)
    expect(runs.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'done'))
    expect([findings, alerts]).toEqual([7, 1])
  })

  it('AGENT-04 is begun once, however often it is found due', async () => {
    await workshop.leaveAll()
    const places = [await workshop.place(), await workshop.place()]
    const idle = await workshop.place({ mirror: { sources: [{ url: SOURCE, filename: 'm' }], every_hours: 720 } })
    workshop.clock.advance(DAY)
    const waiting = async () => {
      const { watch, mirror } = await workshop.context.queue.counts()
      return [watch?.waiting, mirror?.waiting]
    }
    for (let time = 0; time < 3; time++) {
      await enqueueDueWork(workshop.context)
      expect(await waiting()).toEqual([2, 1])
    }
    await workshop.drain()
    await enqueueDueWork(workshop.context)
    expect(await waiting()).toEqual([0, 0])
    for (const place of [...places, idle]) expect(await place.runs()).toHaveLength(1)
  })
})
