// Traces as a collector receives them: the collector is a real HTTP server that reads OTLP as JSON.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { type HttpServer, startHttpServer } from '@svc/devnet/http-server'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { queueToAttest, statusOf } from '../evidence/attest.ts'
import { filledLocker, startAnchorTestbed } from '../publication/anchor-testbed.ts'

interface WireSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[]
}

let collector: HttpServer
let received: { headers: Record<string, unknown>; body: string }[] = []
beforeAll(async () => {
  collector = await startHttpServer(async (request, response) => {
    expect([request.method, request.url]).toEqual(['POST', '/v1/traces'])
    received.push({ headers: request.headers, body: JSON.stringify(await json(request)) })
    response.setHeader('content-type', 'application/json').end('{}')
  })
})
afterAll(() => collector.stop())
afterEach(() => {
  received = []
})

const tracing = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b' })

function spans(): WireSpan[] {
  const resources = received.flatMap(({ body }) => JSON.parse(body).resourceSpans)
  for (const { resource } of resources)
    expect(resource.attributes).toEqual([{ key: 'service.name', value: { stringValue: 'svc-gateway' } }])
  return resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope: { spans: WireSpan[] }) => scope.spans))
}

function valuesOf({ attributes }: WireSpan): Record<string, string | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
}

/** The names from a span up to the root of its trace. */
function ancestry(all: WireSpan[], span: WireSpan): string[] {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId)
  return parent ? [span.name, ...ancestry(all, parent)] : [span.name]
}

describe('traces', () => {
  const testbed = forAllTests(() => startAnchorTestbed())

  forEachDatabase('of a statement', (database) => {
    it('ADD-36 T-12 one trace leads from the request through its jobs to the chain, and reveals no secret', async () => {
      const instance = await testbed.open({ DATABASE_URL: database.url, ...tracing() })
      const locker = await filledLocker(instance)
      await queueToAttest(instance, locker)
      await instance.gateway.context.queue.drain()
      await instance.gateway.stop()

      const all = spans()
      const sent = all.find(({ name }) => name === 'sendTransaction')!
      expect(ancestry(all, sent)).toEqual(['sendTransaction', 'job push', 'job attest', 'POST /v1/storage/attest'])
      const trace = all.filter(({ traceId }) => traceId === sent.traceId)
      expect(trace.map(({ name }) => name)).toEqual(expect.arrayContaining(['getLatestBlockhash', 'sendTransaction']))
      expect(valuesOf(sent)).toEqual({
        'rpc.system': 'jsonrpc',
        'rpc.method': 'sendTransaction',
        'server.address': new URL(testbed.node.url).host,
      })
      const request = trace.find(({ parentSpanId }) => parentSpanId === undefined)!
      expect(valuesOf(request)).toEqual({
        'http.request.method': 'POST',
        'http.route': '/v1/storage/attest',
        'http.response.status_code': '202',
      })
      expect(received[0]!.headers).toMatchObject({ 'content-type': 'application/json', 'x-key': 'a b' })
      const text = received.map(({ body }) => body).join()
      for (const secret of [locker.receiptId.slice(5), locker.lockerId]) expect(text).not.toContain(secret)
    })
  })

  it('ADD-36 a gateway without tracing runs a traced job, and shows its payload without the trace', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-traces-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const variables = { DATABASE_URL: `sqlite:${folder}/gateway.db` }
    const traced = await testbed.open({ ...variables, ...tracing() })
    const locker = await filledLocker(traced)
    await queueToAttest(traced, locker)
    const [job] = await traced.gateway.context.queue.list({ state: 'waiting', kind: 'attest', after: null, limit: 1 })
    expect(job?.payload).toEqual({ receipt_id: locker.receiptId })
    const other = await testbed.open(variables)
    await other.gateway.context.queue.drain()
    expect(await statusOf(other, locker)).toMatchObject({ status: 'complete', sequence: 1 })
  })
})

describe('a traceparent of a caller', () => {
  const PARENT = '0af7651916cd43dd8448eb211c80319c'
  const SPAN = 'b7ad6b7169203331'

  async function ask(variables: Record<string, string>, traceparents: string[]): Promise<WireSpan[]> {
    const gateway = await startTestGateway({ ...tracing(), ...variables })
    for (const traceparent of traceparents) {
      const { status } = await fetch(`${gateway.url}/v1/keys`, { headers: { traceparent } })
      expect(status).toBe(200)
    }
    await gateway.stop()
    // Gateways of earlier tests may still send spans.
    return spans().filter(({ name }) => name === 'GET /v1/keys')
  }

  it('ADD-36 is followed when valid and ignored when malformed', async () => {
    const zero = '0'.repeat(32)
    const [followed, ...others] = await ask({}, [
      `00-${PARENT}-${SPAN}-01`,
      'nonsense',
      `00-${zero}-${SPAN}-01`,
      `ff-${PARENT}-${SPAN}-01`,
      `00-${PARENT}-${SPAN}-00`,
    ])
    expect(followed).toMatchObject({ traceId: PARENT, parentSpanId: SPAN, name: 'GET /v1/keys' })
    // The last traceparent has the sampled flag off.
    expect(others).toHaveLength(3)
    for (const span of others) {
      expect(span.traceId).not.toBe(PARENT)
      expect(span.parentSpanId).toBeUndefined()
    }
  })

  it('ADD-36 T-12 cannot make the gateway record more than its ratio', async () => {
    const asked = Array.from({ length: 20 }, () => `00-${PARENT}-${SPAN}-01`)
    expect(await ask({ OTEL_TRACES_SAMPLER_ARG: '0' }, asked)).toEqual([])
  })
})

it('ADD-36 an unavailable or refusing collector loses only traces', async () => {
  const refusing = await startHttpServer((_, response) => void response.writeHead(503).end())
  onTestFinished(() => refusing.stop())
  for (const endpoint of [refusing.url, 'http://127.0.0.1:9']) {
    const gateway = await startTestGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
    expect((await fetch(`${gateway.url}/v1/keys`)).status).toBe(200)
    await gateway.stop()
  }
})

it('ADD-36 CFG-01 the gateway rejects invalid settings without quoting the headers', async () => {
  const wrong = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    OTEL_TRACES_SAMPLER_ARG: '2',
    OTEL_EXPORTER_OTLP_HEADERS: 'secret words=%',
  }
  const error: Error = await startTestGateway(wrong).then(
    () => expect.fail('it started'),
    (problem) => problem,
  )
  for (const name of Object.keys(wrong)) expect(error.message).toContain(name)
  expect(error.message).not.toContain('secret words')
})
