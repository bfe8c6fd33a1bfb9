import { createHmac } from 'node:crypto'
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Tell } from '@svc/api/agent/tasks'
import { writable } from '@svc/devnet/writable'
import type { PostOptions } from '@svc/service/outgoing/post'
import { createLog } from '@svc/service/program/log'
import { resolveTo, SOURCE, startTestTlsServer, type TestTlsServer } from '@svc/service/test/outgoing/tls-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addFindings } from '../../../src/work/findings/add-findings.ts'
import { WEBHOOK_ATTEMPTS } from '../../../src/work/findings/deliver-webhook.ts'
import { postWebhook } from '../../../src/work/findings/webhook-request.ts'
import { type TestDelegation, useWorkStack } from '../work-stack.ts'

interface ReceivedWebhook {
  headers: IncomingHttpHeaders
  body: string
}

let server: TestTlsServer
let received: ReceivedWebhook[]
/** The response of the webhook's host, set by each test. */
let answer: RequestListener
let posting: PostOptions
const logged: string[] = []
const write = (line: string) => void logged.push(line)
const stack = useWorkStack(undefined, {
  log: createLog('debug', { write, writeSoon: write, flush: () => {} }),
  postWebhook: (url, message) => postWebhook(url, message, { ...server.options, ...posting }),
})

beforeAll(async () => {
  server = await startTestTlsServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    answer(request, response)
  })
})
afterAll(() => server.stop())
beforeEach(() => {
  received = []
  posting = {}
  server.requests.length = 0
  answer = (_request, response) => response.writeHead(204).end()
})

const TELL: Tell = { url: SOURCE, only_alerts: false }

/** A delegation whose first watch has one finding to report. */
function addWithWebhook(tell: Tell = TELL): Promise<TestDelegation> {
  return stack.addDelegation({ watch: { every_hours: 720, read_bytes: true }, tell })
}

const deliveriesOf = ({ id }: TestDelegation) =>
  stack.context.database.db
    .selectFrom('deliveries')
    .selectAll()
    .where('delegation_id', '=', id)
    .orderBy('sequence')
    .execute()

/** Follows the instructions of Standard Webhooks for receivers. */
function isGenuine({ headers, body }: ReceivedWebhook, secret: string): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

const secretOf = async ({ owner, id }: TestDelegation) =>
  (await stack.readDelegation(owner, id)).webhook_secret as string

describe('a webhook', () => {
  it('AGENT-04 reports a finding to the URL of the owner, signed with its secret', async () => {
    const delegation = await addWithWebhook()
    await stack.nextMinute()
    expect(received).toHaveLength(1)
    const [webhook] = received as [ReceivedWebhook]
    expect(webhook.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc-agent',
      'webhook-timestamp': `${stack.clock.seconds()}`,
    })
    const secret = await secretOf(delegation)
    expect(isGenuine(webhook, secret)).toBe(true)
    const [finding] = await delegation.log()
    expect(JSON.parse(webhook.body)).toEqual({ type: 'svc.agent.finding', finding })
    expect(await deliveriesOf(delegation)).toMatchObject([
      { delivery_id: webhook.headers['webhook-id'], sequence: 1, url: SOURCE, error: null },
    ])
    await stack.nextDay()
    expect(received).toHaveLength(1)
  })

  it('AGENT-04 is repeated under the same id until it is accepted', async () => {
    const delegation = await addWithWebhook()
    const answers = [500, 302, 429]
    answer = (_request, response) =>
      response.writeHead(answers.shift() ?? 200, { location: 'https://other.example.test/' }).end()
    await stack.nextMinute()
    expect((await deliveriesOf(delegation))[0]).toMatchObject({
      delivered_at: null,
      error: 'the host responds with 500',
    })
    const deliveries = async () => (await stack.readDelegation(delegation.owner, delegation.id)).told
    expect(await deliveries()).toEqual({ delivered: 0, undelivered: 1, last_error: 'the host responds with 500' })
    for (let time = 0; time < 4; time++) await stack.advanceAndRun(600)
    expect(received).toHaveLength(4)
    const of = (header: string) => new Set(received.map(({ headers }) => headers[header]))
    expect([of('webhook-id').size, of('webhook-timestamp').size]).toEqual([1, 4])
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
    const secret = await secretOf(delegation)
    expect(received.every((webhook) => isGenuine(webhook, secret))).toBe(true)
    expect(new Set(server.requests)).toEqual(new Set(['files.example.test/report.pdf']))
    expect((await deliveriesOf(delegation))[0]).toMatchObject({ delivered_at: expect.any(Number), error: null })
    expect(await deliveries()).toEqual({ delivered: 1, undelivered: 0, last_error: null })
  })

  it('AGENT-04 is abandoned immediately after a 410, and after some hours of other errors', async () => {
    const gone = await addWithWebhook()
    answer = (_request, response) => response.writeHead(410).end()
    await stack.nextMinute()
    await stack.nextDay()
    expect([received.length, await deliveriesOf(gone)]).toMatchObject([1, [{ error: 'the host responds with 410' }]])

    const unavailable = await addWithWebhook()
    answer = (_request, response) => response.writeHead(503).end()
    await stack.nextMinute()
    for (let time = 0; time < WEBHOOK_ATTEMPTS + 3; time++) await stack.advanceAndRun(2 * 3600)
    expect(received).toHaveLength(1 + WEBHOOK_ATTEMPTS)
    expect(await deliveriesOf(unavailable)).toMatchObject([{ delivered_at: null, error: 'the host responds with 503' }])
    expect(await stack.context.queue.deadLetters()).toEqual([])
  })

  it('T-08 is abandoned immediately if its address is not public', async () => {
    const delegation = await addWithWebhook()
    posting = { resolve: resolveTo('10.0.0.1'), isPublic: undefined as never }
    expect(await stack.nextMinute()).toMatchObject({ failed: 0 })
    posting = {}
    await stack.nextDay()
    expect(received).toEqual([])
    expect(await deliveriesOf(delegation)).toMatchObject([
      { delivered_at: null, error: expect.stringContaining('public') },
    ])
    const { told } = await stack.readDelegation(delegation.owner, delegation.id)
    expect(told).toMatchObject({ undelivered: 1, last_error: expect.stringContaining('public') })
  })

  it('AGENT-04 is not sent after the URL has changed or the delegation has ended', async () => {
    const moved = await addWithWebhook()
    const ended = await addWithWebhook()
    answer = (_request, response) => response.writeHead(500).end()
    await stack.nextMinute()
    expect(received).toHaveLength(2)
    const watch = { every_hours: 720, read_bytes: true }
    const elsewhere = { ...TELL, url: 'https://other.example.test/' }
    await stack.delegate(moved.owner, moved.locker, { watch, tell: elsewhere })
    await stack.endDelegation(ended.owner, ended.id)
    await stack.advanceAndRun(600)
    expect(received).toHaveLength(2)
    for (const delegation of [moved, ended])
      expect((await deliveriesOf(delegation))[0]).toMatchObject({
        delivered_at: null,
        error: expect.stringMatching(/no longer receives/),
      })
  })

  it('AGENT-04 leaves no secret or signature in the log of the service', async () => {
    const delegation = await addWithWebhook()
    answer = (_request, response) => response.writeHead(500).end()
    await stack.nextMinute()
    const secret = await secretOf(delegation)
    const lines = logged.join('\n')
    expect(lines).toContain('a webhook was not delivered')
    for (const part of [secret.slice('whsec_'.length), 'whsec_', `${received[0]?.headers['webhook-signature']}`])
      expect(lines).not.toContain(part)
  })
})

describe('many concurrent webhooks', () => {
  const delivered = () => received.filter(({ body }) => body.includes('file_new')).length
  const find = ({ id }: TestDelegation, count: number) => {
    const news = Array.from({ length: count }, (_, i) => ({ kind: 'file_new', detail: { filename: `${i}` } }) as const)
    const { database } = stack.context
    return writable(database.db)
      .transaction()
      .execute((tx) => addFindings(stack.context, tx, id, news))
  }

  it('T-08 T-10 are limited to thirty per minute without losing any', { tags: ['nightly'] }, async () => {
    const delegation = await addWithWebhook()
    await find(delegation, 100)
    // Postponing is not a failure, after several of which a finding is abandoned.
    expect(await stack.runJobs()).toMatchObject({ failed: 0, dead: 0 })
    expect(delivered()).toBe(30)
    for (let minutes = 1; minutes <= 30; minutes++) {
      expect(await stack.nextMinute()).toMatchObject({ failed: 0, dead: 0 })
      expect(delivered()).toBeLessThanOrEqual(30 * (minutes + 1))
    }
    expect(delivered()).toBe(100)
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(received.length)
    const { told: sums } = await stack.readDelegation(delegation.owner, delegation.id)
    expect(sums).toMatchObject({ undelivered: 0, last_error: null })
  })

  it('T-10 leave workers for other subscribers when they all belong to one', async () => {
    const delegation = await addWithWebhook()
    const other = await addWithWebhook()
    const { promise: hung, resolve: hangUp } = Promise.withResolvers<void>()
    const hanging = Array.from({ length: 30 }, () =>
      stack.context.withSlot(`webhooks ${delegation.owner.identity}`, 30, () => hung),
    )
    await find(delegation, 1)
    await find(other, 1)
    await stack.runJobs()
    expect([(await deliveriesOf(delegation))[0], (await deliveriesOf(other))[0]]).toMatchObject([
      { delivered_at: null, error: 'too many concurrent deliveries' },
      { delivered_at: expect.any(Number), error: null },
    ])
    hangUp()
    await Promise.all(hanging)
    for (let minutes = 0; minutes < 10; minutes++) await stack.nextMinute()
    expect((await deliveriesOf(delegation))[0]).toMatchObject({ delivered_at: expect.any(Number), error: null })
  })
})
