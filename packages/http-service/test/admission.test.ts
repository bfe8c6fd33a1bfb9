import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { endpoint } from '@svc/api/endpoint'
import type { ErrorBody } from '@svc/api/errors'
import Type from 'typebox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAdmission } from '../src/admission.ts'
import { createLog } from '../src/log.ts'
import { closeService } from '../src/run.ts'
import { serve } from '../src/serve.ts'
import { createService } from '../src/service.ts'

/** An admission whose clock and turns the test moves. */
function startAdmission(max: number) {
  let time = 0
  const ends: (() => void)[] = []
  const admit = createAdmission(max, { now: () => time, afterLoop: (done) => void ends.push(done) })!
  const pass = (ms: number) => {
    time += ms
  }
  /** A turn of the event loop in which this many requests come, each after some time; returns those that were taken. */
  const turn = (ms: number, requests: number, eachMs = 0) => {
    const asked = Array.from({ length: requests }, () => {
      const release = admit()
      pass(eachMs)
      return release
    })
    pass(ms)
    for (const end of ends.splice(0)) end()
    return asked.filter((release) => release !== null)
  }
  return { turn, pass }
}

describe('admission', () => {
  it('T-89 takes as many requests at once as there may be, and more when some are answered', () => {
    const { turn } = startAdmission(10)
    const taken = turn(1, 12)
    expect(taken).toHaveLength(10)
    expect(turn(1, 1)).toHaveLength(0)
    for (const release of taken.slice(0, 3)) release()
    expect(turn(1, 5)).toHaveLength(3)
  })

  it('T-89 requests that wait for somebody else count for a second only', () => {
    const { turn, pass } = startAdmission(10)
    const waiting = turn(1, 10)
    expect(turn(1, 1)).toHaveLength(0)
    pass(1100)
    const next = turn(1, 12)
    expect(next).toHaveLength(10)
    // Answered much later, they free no place of others.
    for (const release of waiting) release()
    expect(turn(1, 1)).toHaveLength(0)
    for (const release of next) release()
    expect(turn(1, 12)).toHaveLength(10)
  })

  it('T-89 takes fewer, but never less than 32, while every turn is long, and all again when they are short', () => {
    const { turn } = startAdmission(200)
    for (const release of turn(1, 1)) release()
    const takenIn = (ms: number) => {
      const taken = turn(ms, 100)
      for (const release of taken) release()
      return taken.length
    }
    expect(takenIn(110)).toBe(100)
    const behind = Array.from({ length: 30 }, () => takenIn(110))
    expect(behind.at(-1)).toBe(32)
    expect(behind).toEqual(behind.toSorted((a, b) => b - a))
    // One short turn among long ones is enough to say that there is no queue.
    const recovering = Array.from({ length: 120 }, (_, i) => takenIn(i % 2 === 0 ? 1 : 55))
    expect(recovering.at(-1)).toBe(100)
  })

  it('T-89 takes what a turn of the event loop reaches soon, while every turn is long', () => {
    const { turn } = startAdmission(200)
    for (const release of turn(1, 1)) release()
    const takenIn = (requests: number) => {
      const taken = turn(0, requests, 1)
      for (const release of taken) release()
      return taken.length
    }
    // A single long turn refuses nobody.
    expect(takenIn(120)).toBe(120)
    expect(takenIn(120)).toBeLessThan(120)
    expect(takenIn(120)).toBe(32)
    expect(takenIn(120)).toBe(32)
    for (let i = 0; i < 200; i++) takenIn(10)
    expect(takenIn(60)).toBe(60)
  })

  it('T-89 a database that is far away is not taken for a busy one', () => {
    const { turn } = startAdmission(200)
    const takenIn = (ms: number) => {
      const taken = turn(ms, 100)
      for (const release of taken) release()
      return taken.length
    }
    expect(Array.from({ length: 30 }, () => takenIn(101)).at(-1)).toBe(100)
    expect(Array.from({ length: 30 }, () => takenIn(310)).at(-1)).toBe(32)
  })
})

const take = endpoint({
  name: 'take',
  method: 'POST',
  path: '/take',
  auth: 'public',
  summary: 'Takes anything',
  body: Type.Object({}),
  responses: { 200: Type.Object({ ok: Type.Boolean() }) },
})
const live = endpoint({
  name: 'live',
  method: 'GET',
  path: '/health/live',
  auth: 'public',
  summary: 'Whether it runs',
  responses: { 200: Type.Object({ ok: Type.Boolean() }) },
})

describe('a service that takes no more requests', () => {
  it('T-89 answers 503 with Retry-After at once on a connection that stays good, and still says that it is alive', async () => {
    let [isFull, released, shed] = [false, 0, 0]
    const release = () => {
      released++
    }
    const service = createService({
      log: createLog('silent'),
      checkResponses: true,
      baseUrl: 'http://here',
      admit: () => (isFull ? null : release),
      onShed() {
        shed++
      },
    })
    onTestFinished(() => closeService(service, { graceMs: 0 }))
    serve(service, take, () => ({ ok: true }))
    serve(service, live, () => ({ ok: true }))
    const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const post = async (body: string, keptOn?: Agent) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const sent = request(`${url}/take`, { method: 'POST', headers, agent: keptOn ?? false })
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
    // A large body is not read for nothing.
    expect((await post(JSON.stringify({ a: 'a'.repeat(70_000) }))).headers.connection).toBe('close')
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    expect([shed, released]).toEqual([3, 1])

    isFull = false
    expect(await post('{}', agent)).toMatchObject({ status: 200, port: refused.port })
  })
})
