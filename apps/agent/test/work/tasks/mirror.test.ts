import { createHash } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { openSource } from '@svc/service/outgoing/open-source'
import { resolveTo, startTestTlsServer, type TestTlsServer } from '@svc/service/test/outgoing/tls-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findMirrors } from '../../../src/work/tasks/mirror-store.ts'
import { delegateCall } from '../../agent-stack.ts'
import { type TestDelegation, useWorkStack } from '../work-stack.ts'

let server: TestTlsServer
const stack = useWorkStack()
/** The responses of the sources, set by each test. */
let answer: RequestListener

beforeAll(async () => {
  server = await startTestTlsServer((request, response) => answer(request, response))
  stack.gateway.context.fetchSource = fetchSource
})
afterAll(() => server.stop())
beforeEach(() => {
  server.requests.length = 0
  answer = (request, response) => response.end(`of ${request.url}`)
})

const fetchSource = (url: string) => openSource(url, server.options)

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const source = (name: string) => ({ url: `https://files.example.test/${name}`, filename: `mirror/${name}` })
const mirrorOf = (...names: string[]) => ({ mirror: { sources: names.map(source), every_hours: 24 } })

async function textOf({ client, locker }: TestDelegation, filename: string): Promise<string> {
  return Buffer.from(await (await client.get(locker, filename)).bytes()).toString()
}

describe('mirrors', () => {
  it('AGENT-04 FILE-26 are fetched into the locker, and changes are reported', { tags: ['nightly'] }, async () => {
    const delegation = await stack.addDelegation(mirrorOf('a', 'b'))
    await stack.nextMinute()
    expect([await textOf(delegation, 'mirror/a'), await textOf(delegation, 'mirror/b')]).toEqual(['of /a', 'of /b'])
    expect(await delegation.lastSummary()).toEqual({ fetched: 2, changed: 0 })
    expect(await delegation.newFindings()).toEqual([])

    answer = (request, response) => response.end(request.url === '/a' ? 'news' : 'of /b')
    await stack.nextDay()
    const change = { before: sha256('of /a'), after: sha256('news'), size_bytes: 4 }
    expect(await delegation.newFindings()).toEqual([['mirror_changed', { ...source('a'), ...change }]])
    expect(await textOf(delegation, 'mirror/a')).toBe('news')
    await stack.nextDay()
    expect(await delegation.newFindings()).toEqual([])
    expect(server.requests).toHaveLength(6)
  })

  it('AGENT-04 are not reported by the watch unless another client changed the file', async () => {
    const delegation = await stack.addDelegation({ ...mirrorOf('a'), watch: { every_hours: 24, read_bytes: true } })
    await stack.nextMinute()
    answer = (_request, response) => response.end('news')
    await stack.nextDay()
    await stack.nextDay()
    expect(await delegation.newKinds()).toEqual(['baseline', 'mirror_changed'])
    // After the daily mirror, and before its watch.
    stack.duringNextWatch(() => delegation.put('mirror/a', 'by hand'))
    await stack.nextDay()
    const byHand = ['file_changed', expect.objectContaining({ filename: 'mirror/a', after: sha256('by hand') })]
    expect(await delegation.newFindings()).toEqual([byHand])
  })

  it('AGENT-04 FILE-28 report a failing source once, until it is fetched again', {
    tags: ['nightly'],
  }, async () => {
    const delegation = await stack.addDelegation(mirrorOf('bad', 'good'))
    const failed = ['mirror_failed', { ...source('bad'), reason: expect.stringMatching(/status 404/) }]
    const good = answer
    for (let time = 0; time < 2; time++) {
      answer = (request, response) =>
        request.url === '/bad' ? response.writeHead(404).end() : response.end(`of ${request.url}`)
      await stack.nextDay()
      expect(await delegation.newFindings()).toEqual([failed])
      expect(await textOf(delegation, 'mirror/good')).toBe('of /good')
      expect(await delegation.lastSummary()).toMatchObject({ fetched: 1, failed: 1 })
      await stack.nextDay()
      expect(await delegation.newFindings()).toEqual([])
      answer = good
      await stack.nextDay()
      expect(await delegation.newFindings()).toEqual([])
    }
  })

  it('T-08 FILE-27 do not fetch a source in a private network', async () => {
    const { isPublic: _, ...options } = server.options
    stack.gateway.context.fetchSource = (url) => openSource(url, { ...options, resolve: resolveTo('10.0.0.1') })
    const delegation = await stack.addDelegation(mirrorOf('a'))
    await stack.nextMinute()
    stack.gateway.context.fetchSource = fetchSource
    expect(await delegation.newFindings()).toEqual([
      ['mirror_failed', { ...source('a'), reason: expect.stringMatching(/public/) }],
    ])
    expect(server.requests).toEqual([])
  })

  it('AGENT-04 report no change when the filename gets another URL', async () => {
    const delegation = await stack.addDelegation(mirrorOf('a'))
    await stack.nextMinute()
    const sources = [{ ...source('b'), filename: source('a').filename }]
    await stack.delegate(delegation.owner, delegation.locker, { mirror: { sources, every_hours: 24 } })
    await stack.nextDay()
    expect([await textOf(delegation, 'mirror/a'), await delegation.newFindings()]).toEqual(['of /b', []])
  })

  it('T-11 are deleted from the database when the owner removes them', async () => {
    const delegation = await stack.addDelegation(mirrorOf('a', 'b'))
    await stack.nextMinute()
    await stack.delegate(delegation.owner, delegation.locker, mirrorOf('b', 'c'))
    await stack.nextDay()
    const known = await findMirrors(stack.context.database.db, delegation.id)
    expect([...known.keys()].toSorted()).toEqual(['mirror/b', 'mirror/c'])
  })
})

describe('an interrupted mirror run', () => {
  it('AGENT-04 continues with the remaining sources when the gateway responds again', async () => {
    const delegation = await stack.addDelegation(mirrorOf('a', 'b', 'c'))
    stack.proxy.always(/mirror\/b/, { cut: 'request' })
    expect(await stack.nextMinute()).toMatchObject({ failed: 1 })
    expect(server.requests).toEqual(['files.example.test/a'])
    stack.proxy.behave()
    await stack.advanceAndRun(600)
    expect(server.requests.map((asked) => asked.at(-1))).toEqual(['a', 'b', 'c'])
    const runs = await delegation.runs()
    expect(runs.map(({ outcome }) => outcome)).toEqual(['done'])
    expect(JSON.parse(runs[0]!.summary)).toMatchObject({ fetched: 3 })
    expect(await delegation.newFindings()).toEqual([])
  })

  it('AGENT-04 does not fetch a source again that has already failed in this run', async () => {
    answer = (request, response) => response.writeHead(request.url === '/a' ? 404 : 200).end()
    await stack.addDelegation(mirrorOf('a', 'b'))
    await stack.nextMinute()
    stack.proxy.always(/mirror\/b/, { cut: 'request' })
    server.requests.length = 0
    await stack.nextDay()
    stack.proxy.behave()
    await stack.advanceAndRun(600)
    // The SDK retries a rejected request once.
    expect(server.requests.map((asked) => asked.at(-1))).toEqual(['a', 'a', 'b'])
  })

  it('AGENT-04 abandons a source when the gateway keeps failing for it alone', async () => {
    const delegation = await stack.addDelegation(mirrorOf('a', 'b'))
    const error = { error: 'internal_error', message: 'x' }
    stack.proxy.always(/mirror\/a/, { answer: { status: 500, body: error } })
    await stack.nextMinute()
    expect([await delegation.newFindings(), (await delegation.runs())[0]]).toMatchObject([[], { outcome: 'running' }])
    for (let attempt = 2; attempt <= 6; attempt++) await stack.advanceAndRun(600)
    expect(await delegation.outcomes()).toEqual(['done'])
    expect(await delegation.newFindings()).toEqual([
      ['mirror_failed', { ...source('a'), reason: 'the gateway cannot fetch it' }],
    ])
    expect(await textOf(delegation, 'mirror/b')).toBe('of /b')
  })

  it('AGENT-04 skips a source that the owner has removed meanwhile', async () => {
    const delegation = await stack.addDelegation(mirrorOf('a', 'b', 'c'))
    answer = (request, response) => {
      const changing = stack.call(delegation.owner, delegateCall(delegation.locker, mirrorOf('a', 'c')))
      void changing.then(() => response.end(`of ${request.url}`))
    }
    await stack.nextMinute()
    expect(server.requests.map((asked) => asked.at(-1))).toEqual(['a', 'c'])
  })
})
