import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Tell } from '@svc/api/agent/tasks'
import { createLog } from '@svc/http-service/log'
import type { PostOptions } from '@svc/outgoing/post'
import { resolveTo, SOURCE, startTestTlsServer, type TestTlsServer } from '@svc/outgoing/test/tls-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addFindings } from '../../../src/work/findings/add-findings.ts'
import { TELL_ATTEMPTS } from '../../../src/work/findings/deliver-webhook.ts'
import { postWebhook } from '../../../src/work/post-webhook.ts'
import { openWorkshop, type Place, type Workshop } from '../work-stack.ts'

interface Heard {
  headers: IncomingHttpHeaders
  body: string
}

let server: TestTlsServer
let workshop: Workshop
let heard: Heard[]
/** How the host of the webhook answers, set by each test. */
let answer: RequestListener
let posting: PostOptions
const logged: string[] = []

beforeAll(async () => {
  server = await startTestTlsServer(async (request, response) => {
    heard.push({ headers: request.headers, body: await text(request) })
    answer(request, response)
  })
  const write = (line: string) => void logged.push(line)
  const log = createLog('debug', { write, writeSoon: write, flush: () => {} })
  workshop = await openWorkshop(
    {},
    { log, postWebhook: (url, message) => postWebhook(url, message, { ...server.options, ...posting }) },
  )
})
afterAll(async () => {
  await workshop.close()
  await server.stop()
})
beforeEach(() => {
  heard = []
  posting = {}
  server.asked.length = 0
  answer = (_request, response) => response.writeHead(204).end()
})
afterEach(() => workshop.leaveAll())

const TELL: Tell = { url: SOURCE, only_alerts: false }

/** A place whose watch has one thing to tell. */
function tellingPlace(tell: Tell = TELL): Promise<Place> {
  return workshop.place({ watch: { every_hours: 720, read_bytes: true }, tell })
}

const deliveriesOf = ({ delegationId }: Place) =>
  workshop.context.database.db
    .selectFrom('deliveries')
    .selectAll()
    .where('delegation_id', '=', delegationId)
    .orderBy('sequence')
    .execute()

/** As the documentation of Standard Webhooks tells receivers to do it. */
function isGenuine({ headers, body }: Heard, secret: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

const secretOf = async ({ owner, delegationId }: Place) =>
  (await workshop.read(owner, delegationId)).webhook_secret as string

describe('a finding', () => {
  it('AGENT-04 is told at the address of the subscriber, signed with the secret that he was given', async () => {
    const place = await tellingPlace()
    await workshop.soon()
    expect(heard).toHaveLength(1)
    const [webhook] = heard as [Heard]
    expect(webhook.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc-agent',
      'webhook-timestamp': `${Math.floor(workshop.clock.now() / 1000)}`,
    })
    const secret = await secretOf(place)
    expect([isGenuine(webhook, secret), isGenuine({ ...webhook, body: `${webhook.body} ` }, secret)]).toEqual([
      true,
      false,
    ])
    const [finding] = await place.log()
    expect(JSON.parse(webhook.body)).toEqual({ type: 'svc.agent.finding', finding })
    expect(await deliveriesOf(place)).toMatchObject([
      { delivery_id: webhook.headers['webhook-id'], sequence: 1, url: SOURCE, error: null },
    ])
    await workshop.nextDay()
    expect(heard).toHaveLength(1)
  })

  it('AGENT-04 that is no alert is kept quiet where that is wanted', async () => {
    const place = await tellingPlace({ ...TELL, only_alerts: true })
    await place.put('file', 'bytes')
    await workshop.lose(place, 'file')
    await workshop.soon()
    expect((await place.log()).map(({ kind }) => kind)).toEqual(['baseline', 'bytes_missing'])
    expect(heard.map(({ body }) => JSON.parse(body).finding.kind)).toEqual(['bytes_missing'])
  })

  it('AGENT-04 is told again under the same id until it is taken', async () => {
    const place = await tellingPlace()
    const answers = [500, 302, 429]
    answer = (_request, response) =>
      response.writeHead(answers.shift() ?? 200, { location: 'https://other.example.test/' }).end()
    await workshop.soon()
    expect((await deliveriesOf(place))[0]).toMatchObject({ delivered_at: null, error: 'the host answers 500' })
    const told = async () => (await workshop.read(place.owner, place.delegationId)).told
    expect(await told()).toEqual({ delivered: 0, undelivered: 1, last_error: 'the host answers 500' })
    for (let time = 0; time < 4; time++) {
      workshop.clock.advance(600)
      await workshop.drain()
    }
    expect(heard).toHaveLength(4)
    const of = (header: string) => new Set(heard.map(({ headers }) => headers[header]))
    expect([of('webhook-id').size, of('webhook-timestamp').size]).toEqual([1, 4])
    expect(new Set(heard.map(({ body }) => body)).size).toBe(1)
    const secret = await secretOf(place)
    expect(heard.every((webhook) => isGenuine(webhook, secret))).toBe(true)
    expect(new Set(server.asked)).toEqual(new Set(['files.example.test/report.pdf']))
    expect((await deliveriesOf(place))[0]).toMatchObject({ delivered_at: expect.any(Number), error: null })
    expect(await told()).toEqual({ delivered: 1, undelivered: 0, last_error: null })
  })

  it('AGENT-04 is given up at once by who answers 410, and for good after some hours', async () => {
    const gone = await tellingPlace()
    answer = (_request, response) => response.writeHead(410).end()
    await workshop.soon()
    await workshop.nextDay()
    expect([heard.length, await deliveriesOf(gone)]).toMatchObject([1, [{ error: 'the host answers 410' }]])

    const away = await tellingPlace()
    answer = (_request, response) => response.writeHead(503).end()
    await workshop.soon()
    for (let time = 0; time < TELL_ATTEMPTS + 3; time++) {
      workshop.clock.advance(2 * 3600)
      await workshop.drain()
    }
    expect(heard).toHaveLength(1 + TELL_ATTEMPTS)
    expect(await deliveriesOf(away)).toMatchObject([{ delivered_at: null, error: 'the host answers 503' }])
    expect(await workshop.context.queue.deadLetters()).toEqual([])
  })

  it.each<[string, PostOptions, RequestListener, string]>([
    ['T-08 to a private address', { resolve: resolveTo('10.0.0.1'), isPublic: undefined as never }, ok, 'public'],
    ['T-08 to this machine', { resolve: resolveTo('127.0.0.1'), isPublic: undefined as never }, ok, 'public'],
    ['T-11 to a host that hangs', { deadlineMs: 50 }, () => {}, 'within 0.05 seconds'],
    ['AGENT-04 to a host that hangs up', {}, ({ socket }) => void socket.destroy(), 'no good HTTP answer'],
  ])('%s is not told, and tried again later', async (_, options, listener, error) => {
    const place = await tellingPlace()
    posting = options
    answer = listener
    expect(await workshop.soon()).toMatchObject({ failed: 1 })
    const [delivery] = await deliveriesOf(place)
    expect([delivery?.delivered_at, delivery?.error]).toEqual([null, expect.stringContaining(error)])
    if (options.resolve) expect(heard).toEqual([])
    posting = {}
    answer = ok
    workshop.clock.advance(60)
    await workshop.drain()
    expect((await deliveriesOf(place))[0]).toMatchObject({ delivered_at: expect.any(Number), error: null })
  })

  it('AGENT-04 is not told where it is not wanted any more: at another address, or after the end', async () => {
    const moved = await tellingPlace()
    const ended = await tellingPlace()
    answer = (_request, response) => response.writeHead(500).end()
    await workshop.soon()
    expect(heard).toHaveLength(2)
    const watch = { every_hours: 720, read_bytes: true }
    const elsewhere = { ...TELL, url: 'https://other.example.test/' }
    await workshop.delegate(moved.owner, moved.locker, { watch, tell: elsewhere })
    const path = `/v1/delegations/${ended.delegationId}`
    await workshop.call(ended.owner, { method: 'DELETE', path, ops: ['locker:admin'] })
    workshop.clock.advance(600)
    await workshop.drain()
    expect(heard).toHaveLength(2)
    for (const place of [moved, ended])
      expect((await deliveriesOf(place))[0]).toMatchObject({ delivered_at: null, error: expect.stringMatching(/not/) })
  })

  it('AGENT-04 is told with a secret of its own at each address and for each delegation', async () => {
    const places = [await tellingPlace(), await tellingPlace()]
    const secrets = [...(await Promise.all(places.map(secretOf)))]
    const [{ owner, locker }] = places as [Place, Place]
    const tell = { ...TELL, url: 'https://other.example.test/' }
    secrets.push((await workshop.delegate(owner, locker, { tell })).webhook_secret as string)
    expect(new Set(secrets).size).toBe(3)
  })

  it('AGENT-04 leaves neither secrets nor signatures in the log of the service', async () => {
    const place = await tellingPlace()
    answer = (_request, response) => response.writeHead(500).end()
    await workshop.soon()
    const secret = await secretOf(place)
    const lines = logged.join('\n')
    expect(lines).toContain('a webhook was not delivered')
    for (const part of [secret, secret.slice('whsec_'.length), 'whsec_', `${heard[0]?.headers['webhook-signature']}`])
      expect(lines).not.toContain(part)
  })
})

function ok(_request: unknown, response: Parameters<RequestListener>[1]): void {
  response.writeHead(200).end()
}

describe('many findings at once', () => {
  const told = () => heard.filter(({ body }) => body.includes('file_new')).length
  const find = ({ delegationId }: Place, count: number) => {
    const news = Array.from({ length: count }, (_, i) => ({ kind: 'file_new', detail: { filename: `${i}` } }) as const)
    const { database } = workshop.context
    return database.db.transaction().execute((tx) => addFindings(workshop.context, tx, delegationId, news))
  }

  it('T-08 T-10 flood nobody: thirty are told in a minute, and none is lost by that', async () => {
    const place = await tellingPlace()
    await find(place, 100)
    // To be held back is no failure, after some of which a finding is given up.
    expect(await workshop.drain()).toMatchObject({ failed: 0, dead: 0 })
    expect(told()).toBe(30)
    for (let minutes = 1; minutes <= 30; minutes++) {
      expect(await workshop.soon()).toMatchObject({ failed: 0, dead: 0 })
      expect(told()).toBeLessThanOrEqual(30 * (minutes + 1))
    }
    expect(told()).toBe(100)
    expect(new Set(heard.map(({ headers }) => headers['webhook-id'])).size).toBe(heard.length)
    const { told: sums } = await workshop.read(place.owner, place.delegationId)
    expect(sums).toMatchObject({ undelivered: 0, last_error: null })
  })

  it('T-10 of one subscriber do not take all that tell', async () => {
    const place = await tellingPlace()
    const other = await tellingPlace()
    const { promise: hung, resolve: hangUp } = Promise.withResolvers<void>()
    const hanging = Array.from({ length: 30 }, () =>
      workshop.context.inTurn(`tell ${place.owner.identity}`, 30, () => hung),
    )
    await find(place, 1)
    await find(other, 1)
    await workshop.drain()
    expect([(await deliveriesOf(place))[0], (await deliveriesOf(other))[0]]).toMatchObject([
      { delivered_at: null, error: 'too many findings at once' },
      { delivered_at: expect.any(Number), error: null },
    ])
    hangUp()
    await Promise.all(hanging)
    for (let minutes = 0; minutes < 10; minutes++) await workshop.soon()
    expect((await deliveriesOf(place))[0]).toMatchObject({ delivered_at: expect.any(Number), error: null })
  })
})
