import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { openSource, type SourceOptions } from '@svc/outgoing/open-source'
import { resolveTo, startTestTlsServer, type TestTlsServer } from '@svc/outgoing/test/tls-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findMirrors } from '../../../src/work/tasks/watch-store.ts'
import { delegateCall } from '../../agent-stack.ts'
import { openWorkshop, type Place, type Workshop } from '../work-stack.ts'

let server: TestTlsServer
let workshop: Workshop
/** What the sources answer, set by each test. */
let answer: RequestListener
let fetching: SourceOptions

beforeAll(async () => {
  server = await startTestTlsServer((request, response) => answer(request, response))
  workshop = await openWorkshop()
  workshop.gateway.context.fetchSource = fetchSource
})
afterAll(async () => {
  await workshop.close()
  await server.stop()
})
beforeEach(() => {
  server.asked.length = 0
  fetching = {}
  answer = (request, response) => response.end(`of ${request.url}`)
})
afterEach(() => workshop.leaveAll())

/** The limits are for one of them alone, since no other may be too slow for them. */
const fetchSource = (url: string) => openSource(url, { ...server.options, ...(url.endsWith('/bad') && fetching) })

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const source = (name: string) => ({ url: `https://files.example.test/${name}`, filename: `mirror/${name}` })
const mirrorOf = (...names: string[]) => ({ mirror: { sources: names.map(source), every_hours: 24 } })

async function textOf({ client, locker }: Place, filename: string): Promise<string> {
  return Buffer.from(await (await client.get(locker, filename)).bytes()).toString()
}

const lastSummary = async (place: Place) => JSON.parse((await place.runs())[0]!.summary)

describe('mirrors', () => {
  it('AGENT-04 FILE-26 are fetched into the locker, and what has changed is found', async () => {
    const place = await workshop.place(mirrorOf('a', 'b'))
    await workshop.soon()
    expect([await textOf(place, 'mirror/a'), await textOf(place, 'mirror/b')]).toEqual(['of /a', 'of /b'])
    expect(await lastSummary(place)).toEqual({ fetched: 2, changed: 0 })
    expect(await place.news()).toEqual([])

    answer = (request, response) => response.end(request.url === '/a' ? 'news' : 'of /b')
    await workshop.nextDay()
    const change = { before: sha256('of /a'), after: sha256('news'), size_bytes: 4 }
    expect(await place.news()).toEqual([['mirror_changed', { ...source('a'), ...change }]])
    expect(await textOf(place, 'mirror/a')).toBe('news')
    await workshop.nextDay()
    expect(await place.news()).toEqual([])
    expect(server.asked).toHaveLength(6)
  })

  it('AGENT-04 that change are not found a second time by the watch, which sees what others do to them', async () => {
    const place = await workshop.place({ ...mirrorOf('a'), watch: { every_hours: 24, read_bytes: true } })
    await workshop.soon()
    answer = (_request, response) => response.end('news')
    await workshop.nextDay()
    await workshop.nextDay()
    expect((await place.news()).map(([kind]) => kind)).toEqual(['baseline', 'mirror_changed'])
    // After the mirror of the day, and before its watch.
    workshop.meanwhile(() => place.put('mirror/a', 'by hand'))
    await workshop.nextDay()
    const byHand = ['file_changed', expect.objectContaining({ filename: 'mirror/a', after: sha256('by hand') })]
    expect(await place.news()).toEqual([byHand])
  })

  it.each<[string, RequestListener, SourceOptions, RegExp]>([
    ['answers an error', (_, response) => response.writeHead(404).end(), {}, /answers 404/],
    ['is too large', (_, response) => response.end('too much'), { maxBytes: 3 }, /3 bytes/],
    ['hangs', () => {}, { deadlineMs: 50 }, /within 0.05 seconds/],
  ])('AGENT-04 FILE-28 a source that %s is found once, until it was fetched again', async (_, failing, limits, why) => {
    const place = await workshop.place(mirrorOf('bad', 'good'))
    const failed = ['mirror_failed', { ...source('bad'), reason: expect.stringMatching(why) }]
    const good: RequestListener = (request, response) => response.end(`of ${request.url}`.slice(0, 3))
    for (let time = 0; time < 2; time++) {
      answer = (request, response) => (request.url === '/bad' ? failing : good)(request, response)
      fetching = limits
      await workshop.nextDay()
      expect(await place.news()).toEqual([failed])
      expect(await textOf(place, 'mirror/good')).toBe('of ')
      expect(await lastSummary(place)).toMatchObject({ fetched: 1, failed: 1 })
      await workshop.nextDay()
      expect(await place.news()).toEqual([])
      answer = good
      fetching = {}
      await workshop.nextDay()
      expect(await place.news()).toEqual([])
    }
    const { alerts, findings } = await workshop.read(place.owner, place.delegationId)
    expect([alerts, findings]).toEqual([2, 2])
  })

  it('T-08 FILE-27 a source that leads to a private network is not fetched', async () => {
    const { isPublic: _, ...options } = server.options
    workshop.gateway.context.fetchSource = (url) => openSource(url, { ...options, resolve: resolveTo('10.0.0.1') })
    const place = await workshop.place(mirrorOf('a'))
    await workshop.soon()
    workshop.gateway.context.fetchSource = fetchSource
    expect(await place.news()).toEqual([['mirror_failed', { ...source('a'), reason: expect.stringMatching(/public/) }]])
    expect(server.asked).toEqual([])
  })

  it('AGENT-04 of another address under the same name begin anew', async () => {
    const place = await workshop.place(mirrorOf('a'))
    await workshop.soon()
    const sources = [{ ...source('b'), filename: source('a').filename }]
    await workshop.delegate(place.owner, place.locker, { mirror: { sources, every_hours: 24 } })
    await workshop.nextDay()
    expect([await textOf(place, 'mirror/a'), await place.news()]).toEqual(['of /b', []])
  })

  it('T-11 that are not wanted any more are forgotten', async () => {
    const place = await workshop.place(mirrorOf('a', 'b'))
    await workshop.soon()
    await workshop.delegate(place.owner, place.locker, mirrorOf('b', 'c'))
    await workshop.nextDay()
    const known = await findMirrors(workshop.context.database.db, place.delegationId)
    expect([...known.keys()].toSorted()).toEqual(['mirror/b', 'mirror/c'])
  })
})

describe('a run that is cut off', () => {
  it('AGENT-04 goes on with what is left when the gateway is there again', async () => {
    const place = await workshop.place(mirrorOf('a', 'b', 'c'))
    workshop.between.always(/mirror\/b/, { cut: 'request' })
    expect(await workshop.soon()).toMatchObject({ failed: 1 })
    expect(server.asked).toEqual(['files.example.test/a'])
    workshop.between.behave()
    workshop.clock.advance(600)
    await workshop.drain()
    expect(server.asked.map((asked) => asked.at(-1))).toEqual(['a', 'b', 'c'])
    const runs = await place.runs()
    expect(runs.map(({ outcome }) => outcome)).toEqual(['done'])
    expect(JSON.parse(runs[0]!.summary)).toMatchObject({ fetched: 3 })
    expect(await place.news()).toEqual([])
  })

  it('AGENT-04 does not ask again for an address that has failed in this run, also where it had failed before', async () => {
    answer = (request, response) => response.writeHead(request.url === '/a' ? 404 : 200).end()
    await workshop.place(mirrorOf('a', 'b'))
    await workshop.soon()
    workshop.between.always(/mirror\/b/, { cut: 'request' })
    server.asked.length = 0
    await workshop.nextDay()
    workshop.between.behave()
    workshop.clock.advance(600)
    await workshop.drain()
    // Twice by the one request: what the gateway refuses is tried once more.
    expect(server.asked.map((asked) => asked.at(-1))).toEqual(['a', 'a', 'b'])
  })

  it('AGENT-04 does not wait for ever for the one address at which the gateway fails', async () => {
    const place = await workshop.place(mirrorOf('a', 'b'))
    const error = { error: 'internal_error', message: 'x' }
    workshop.between.always(/mirror\/a/, { answer: { status: 500, body: error } })
    await workshop.soon()
    expect([await place.news(), (await place.runs())[0]]).toMatchObject([[], { outcome: 'running' }])
    for (let attempt = 2; attempt <= 6; attempt++) {
      workshop.clock.advance(600)
      await workshop.drain()
    }
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['done'])
    expect(await place.news()).toEqual([['mirror_failed', { ...source('a'), reason: 'the gateway cannot fetch it' }]])
    expect(await textOf(place, 'mirror/b')).toBe('of /b')
  })

  it('AGENT-04 leaves out what is not wanted any more', async () => {
    const place = await workshop.place(mirrorOf('a', 'b', 'c'))
    answer = (request, response) => {
      const changing = workshop.call(place.owner, delegateCall(place.locker, mirrorOf('a', 'c')))
      void changing.then(() => response.end(`of ${request.url}`))
    }
    await workshop.soon()
    expect(server.asked.map((asked) => asked.at(-1))).toEqual(['a', 'c'])
  })

  it('AGENT-04 ends when the delegation does', async () => {
    const place = await workshop.place(mirrorOf('a', 'b'))
    answer = (request, response) => {
      const path = `/v1/delegations/${place.delegationId}`
      const ending = workshop.call(place.owner, { method: 'DELETE', path, ops: ['locker:admin'] })
      void ending.then(() => response.end(`of ${request.url}`))
    }
    await workshop.soon()
    expect(server.asked).toHaveLength(1)
    expect((await place.runs()).map(({ outcome }) => outcome)).toEqual(['stopped'])
    expect(await lastSummary(place)).toMatchObject({ reason: 'delegation_ended' })
  })
})
