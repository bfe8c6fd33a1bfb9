import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { endpoint } from '@svc/api/endpoint'
import type { ErrorBody } from '@svc/api/errors'
import Type from 'typebox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAdmission } from '../../src/http/admission.ts'
import { listen } from '../../src/http/listen.ts'
import { serve } from '../../src/http/serve.ts'
import { createService } from '../../src/http/service.ts'
import { createLog } from '../../src/program/log.ts'
import { closeService } from '../../src/program/run.ts'
import { GET, OK, POST } from './service.ts'

type Release = () => void

/** An admission whose clock and turns the test controls. */
function startAdmission(max: number) {
  let time = 0
  const [loops, turns]: [(() => void)[], (() => void)[]] = [[], []]
  const admit = createAdmission(max, {
    now: () => time,
    afterLoop: (done) => void loops.push(done),
    afterTurn: (done) => void turns.push(done),
  })!
  const counts = { taken: 0, refused: 0 }
  const pass = (ms: number) => {
    time += ms
  }
  const runLoop = () => {
    for (const done of loops.splice(0)) done()
  }
  /** Requests that arrive together, each of which takes some time to start. */
  const ask = (requests: number, eachMs: number, begun: (release: Release) => void) => {
    for (let i = 0; i < requests; i++) {
      admit((release) => {
        counts[release ? 'taken' : 'refused']++
        if (!release) return
        pass(eachMs)
        begun(release)
      })
    }
  }
  /** Like `ask`, with requests that are answered immediately. */
  const answer = (requests: number, eachMs: number) => ask(requests, eachMs, (release) => release())
  /** Requests that arrive together, and a database that answers some time later; returns the accepted requests. */
  const turn = (ms: number, requests: number): Release[] => {
    const taken: Release[] = []
    ask(requests, 0, (release) => taken.push(release))
    pass(ms)
    for (const done of turns.splice(0)) done()
    runLoop()
    return taken
  }
  /** Advances the loop until no request waits. */
  const settle = () => {
    while (loops.length > 0) runLoop()
  }
  return { answer, turn, pass, runLoop, settle, counts }
}

describe('admission', () => {
  it('T-89 accepts requests up to the maximum, and more when some are answered', () => {
    const { turn } = startAdmission(10)
    const taken = turn(1, 12)
    expect(taken).toHaveLength(10)
    expect(turn(1, 1)).toHaveLength(0)
    for (const release of taken.slice(0, 3)) release()
    expect(turn(1, 5)).toHaveLength(3)
  })

  it('T-89 requests that wait for another service count for one second only', () => {
    const { turn, pass } = startAdmission(10)
    const waiting = turn(1, 10)
    expect(turn(1, 1)).toHaveLength(0)
    pass(1100)
    const next = turn(1, 12)
    expect(next).toHaveLength(10)
    // Answered much later, they do not free the slots of others.
    for (const release of waiting) release()
    expect(turn(1, 1)).toHaveLength(0)
    for (const release of next) release()
    expect(turn(1, 12)).toHaveLength(10)
  })

  it('T-89 a turn of the event loop starts requests for 5 ms, in the order of arrival', () => {
    const { answer, runLoop, counts } = startAdmission(200)
    answer(10, 2)
    expect(counts.taken).toBe(3)
    runLoop()
    expect(counts.taken).toBe(6)
    // A later request queues behind the waiting ones.
    answer(1, 2)
    expect(counts.taken).toBe(6)
    runLoop()
    runLoop()
    expect(counts).toEqual({ taken: 11, refused: 0 })
  })

  it('T-89 rejects requests that waited long while all do, and none once waits are short again', () => {
    const { answer, pass, runLoop, settle, counts } = startAdmission(200)
    // A burst that is worked off causes no rejection.
    answer(90, 1)
    settle()
    expect(counts).toEqual({ taken: 90, refused: 0 })
    // Twice as many as can be served: 10 arrive in each turn, which starts 5.
    pass(1000)
    for (let i = 0; i < 400; i++) {
      answer(10, 1)
      runLoop()
    }
    expect(counts.refused).toBeGreaterThan(1000)
    // The process is always busy, and few requests wait.
    expect(counts.taken).toBeGreaterThan(1900)
    const queued = 90 + 4000 - counts.taken - counts.refused
    expect(queued).toBeLessThan(40)
    settle()
    pass(1000)
    answer(1, 1)
    const { refused } = counts
    for (let i = 0; i < 50; i++) {
      answer(4, 1)
      runLoop()
    }
    expect(counts.refused).toBe(refused)
  })

  it('T-89 runs fewer requests, but at least 32, or 6 in a crowd, while every turn of the database is long', () => {
    const { turn } = startAdmission(200)
    for (const release of turn(1, 1)) release()
    const takenIn = (ms: number, requests: number) => {
      const taken = turn(ms, requests)
      for (const release of taken) release()
      return taken.length
    }
    const times = (count: number, ms: number, requests: number) =>
      Array.from({ length: count }, () => takenIn(ms, requests))
    expect(takenIn(1010, 60)).toBe(60)
    const behind = times(30, 1010, 60)
    expect(behind.at(-1)).toBe(32)
    expect(behind).toEqual(behind.toSorted((a, b) => b - a))
    // More requests are rejected at once than by clients that wait before they retry.
    expect(times(30, 110, 100).at(-1)).toBe(6)
    expect(times(30, 1010, 60).at(-1)).toBe(32)
    // One short turn among long ones shows that there is no queue.
    const recovering = Array.from({ length: 120 }, (_, i) => takenIn(i % 2 === 0 ? 1 : 55, 100))
    expect(recovering.at(-1)).toBe(100)
  })

  it('T-89 a distant database does not count as a busy one', () => {
    const { turn } = startAdmission(200)
    const takenIn = (ms: number) => {
      const taken = turn(ms, 90)
      for (const release of taken) release()
      return taken.length
    }
    expect(Array.from({ length: 30 }, () => takenIn(101)).at(-1)).toBe(90)
    expect(Array.from({ length: 30 }, () => takenIn(1010)).at(-1)).toBe(32)
  })
})

const take = endpoint({ ...POST, name: 'take', path: '/take', body: Type.Object({}), responses: OK })
const live = endpoint({ ...GET, name: 'live', path: '/health/live', responses: OK })

describe('a service that accepts no more requests', () => {
  it('T-89 answers 503 with Retry-After immediately on a reusable connection, and still answers health checks', async () => {
    let [isFull, released, shed] = [false, 0, 0]
    const release = () => {
      released++
    }
    const service = createService({
      log: createLog('silent'),
      checkResponses: true,
      baseUrl: 'http://here',
      admit: (begin) => begin(isFull ? null : release),
      onShed() {
        shed++
      },
    })
    onTestFinished(() => closeService(service, { graceMs: 0 }))
    serve(service, take, () => ({ ok: true }))
    serve(service, live, () => ({ ok: true }))
    const url = await listen(service, { host: '127.0.0.1', port: 0 })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const post = async (body: string, agent?: Agent) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const sent = request(`${url}/take`, { method: 'POST', headers, agent: agent ?? false })
      sent.end(body)
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      const { port } = response.socket.address() as { port: number }
      return { status: response.statusCode, headers: response.headers, body: await json(response), port }
    }
    expect((await post('{}', agent)).status).toBe(200)
    await expect.poll(() => released).toBe(1)

    isFull = true
    const refused = await post('{}', agent)
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.stringMatching(/^[123]$/)])
    expect(refused.body).toMatchObject({ error: 'overloaded', docs_url: 'http://here/errors/overloaded' })
    expect((refused.body as ErrorBody).request_id).toBe(refused.headers['x-request-id'])
    expect(await post('{}', agent)).toMatchObject({ status: 503, port: refused.port })
    // A large body of a rejected request is not read.
    expect((await post(JSON.stringify({ a: 'a'.repeat(70_000) }))).headers.connection).toBe('close')
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    expect([shed, released]).toEqual([3, 1])

    isFull = false
    expect(await post('{}', agent)).toMatchObject({ status: 200, port: refused.port })
  })
})
