// How long one unauthenticated request blocks the event loop, and thus all other requests (T-35): the worst of
// requests of maximum length to every endpoint, each expensive in a different way.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { agentEndpoints } from '@svc/api/agent/agent'
import { type Endpoint, maxBodyBytes } from '@svc/api/endpoint'
import { gatewayEndpoints } from '@svc/api/gateway'
import type { Row } from './row.ts'
import { scaled } from './scale.ts'

const GOAL_MS = 5
/** The machine measures in steps of some milliseconds, so a potentially expensive request is repeated. */
const REPEATS = 4
/** The lowest figure counts, because an expensive request is expensive every time. */
const ATTEMPTS = scaled(5, 2)
/** A longer body arrives in pieces, between which the loop serves other requests. */
const ONE_PIECE = 65_536

interface Hostile {
  method: string
  target: string
  headers?: Record<string, string>
  body?: string
}

export async function eventLoopRows(): Promise<Row[]> {
  const server = fork(new URL('./servers/event-loop.ts', import.meta.url), { stdio: 'inherit' })
  const connections = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    const [urls] = (await once(server, 'message')) as [{ gateway: string; agent: string }]
    return [
      await worstRow('gateway', measuring(server, connections, urls.gateway), gatewayEndpoints),
      await worstRow('agent service', measuring(server, connections, urls.agent), agentEndpoints),
    ]
  } finally {
    server.kill('SIGKILL')
    connections.destroy()
  }
}

type BusyMs = (hostile: Hostile, repeats: number) => Promise<number>

function measuring(server: ChildProcess, agent: Agent, url: string): BusyMs {
  const { hostname, port } = new URL(url)

  async function worked(): Promise<number> {
    const answer = once(server, 'message')
    server.send('worked')
    return (await answer)[0] as number
  }

  async function send({ method, target, headers = {}, body }: Hostile): Promise<void> {
    const type =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request({ hostname, port, method, path: target, headers: { ...type, ...headers }, agent })
    sent.end(body)
    const [response] = await once(sent, 'response')
    for await (const _ of response) {
      // read to the end, so that the connection can be reused
    }
    if (response.statusCode === 500) throw new Error(`${method} ${target} returned 500`)
  }

  return async (hostile, repeats) => {
    const before = await worked()
    for (let i = 0; i < repeats; i++) await send(hostile)
    return ((await worked()) - before) / repeats
  }
}

async function worstRow(service: string, busyMs: BusyMs, endpoints: readonly Endpoint[]): Promise<Row> {
  const worst = { ms: 0, of: '' }
  for (const endpoint of endpoints) {
    for (const hostile of [...hostileHeads(endpoint), ...requestsWithBodies(endpoint)]) {
      const ms = await leastMs(busyMs, hostile)
      if (ms > worst.ms) Object.assign(worst, { ms, of: `${endpoint.method} ${endpoint.path}` })
    }
  }
  return {
    what: `the longest that an unauthenticated request blocks the event loop of the ${service}`,
    measured: `${worst.ms.toFixed(1)} ms of CPU, ${worst.of}`,
    against: `${GOAL_MS} ms`,
    ratio: worst.ms / GOAL_MS,
    goal: { atMost: 1 },
  }
}

async function leastMs(busyMs: BusyMs, hostile: Hostile): Promise<number> {
  // Nearly all requests are clearly brief, except the first of a kind: it includes compilation.
  let least = await busyMs(hostile, 1)
  for (let i = 0; i < ATTEMPTS && least >= GOAL_MS / 2; i++) {
    const isLong = (hostile.body?.length ?? 0) > ONE_PIECE
    const arrival = isLong ? await busyMs({ ...hostile, target: '/nowhere' }, REPEATS) : 0
    least = Math.min(least, (await busyMs(hostile, REPEATS)) - arrival)
  }
  return least
}

function requestsWithBodies(endpoint: Endpoint): Hostile[] {
  const { method, path, auth, body, takesBytes } = endpoint
  if (!body || takesBytes) return []
  const target = path.replaceAll(/\{\+?\w+\}/g, 'x')
  const envelope = { 'x-svc-envelope': 'e30', 'x-svc-signature': '1' }
  const heads = typeof auth === 'object' ? [envelope] : auth === 'public' ? [{}] : [{}, envelope]
  return hostileBodies(endpoint).flatMap((body) => heads.map((headers) => ({ method, target, headers, body })))
}

const fill = (bytes: number, unit: string) => unit.repeat(Math.max(0, Math.floor(bytes / unit.length)))

/** Bodies of the maximum length that the endpoint accepts, each expensive in a different way. */
function hostileBodies(endpoint: Endpoint): string[] {
  const bytes = maxBodyBytes(endpoint) - 200
  const fields = Object.keys((endpoint.body as { properties: object }).properties)
  const each = (value: string) => `{${fields.map((name) => `"${name}":${value}`).join()}}`
  const share = Math.floor(bytes / fields.length) - 30
  return [
    each(`[${fill(share - 2, '1,')}1]`),
    each(`[${fill(share - 2, '{},')}{}]`),
    each(`[${fill(share - 4, '"",')}""]`),
    each(`"${fill(share, 'x')}"`),
    each(`"${fill(share, '\\"')}"`),
    each(`"${fill(share, '\\u0041')}"`),
    each(fill(share, '9')),
    `{"units":1,"tags":[${fill(bytes, '1,')}1]}`,
    `{${Array.from({ length: bytes / 8 }, (_, i) => `"${i.toString(36)}":1`).join()}`.slice(0, bytes),
    `${fill(bytes / 2, '[')}${fill(bytes / 2, ']')}`,
    fill(bytes, ' '),
    `{"${fill(bytes, 'k')}":"\\u0000"}`,
  ]
}

const LONG = 12_000
const base64url = (text: string) => Buffer.from(text).toString('base64url').slice(0, LONG)

/** Values for every header, path parameter and query parameter that the gateway reads. */
function hostileHeads({ method, path, query }: Endpoint): Hostile[] {
  const target = path.replaceAll(/\{\+?\w+\}/g, 'x')
  const names = Object.keys(query?.properties ?? {})
  const signed = { 'x-svc-signature': fill(88, '1') }
  const heads: Hostile['headers'][] = [
    { ...signed, 'x-svc-envelope': base64url(`{"a":[${fill(8_000, '1,')}1]}`) },
    { ...signed, 'x-svc-envelope': base64url(fill(8_000, '[')) },
    { 'x-svc-envelope': 'e30', 'x-svc-signature': fill(LONG, '1') },
    { 'x-svc-identity': fill(LONG, '1') },
    { authorization: `Bearer ${fill(LONG, 'a.')}`, 'x-upload-token': fill(LONG, 'A') },
    { 'payment-signature': Buffer.from(`{"x402Version":2,"accepted":[${fill(5_800, '1,')}1]}`).toString('base64') },
    { range: `bytes=${fill(LONG, '0-0,')}0-0`, 'if-none-match': fill(LONG, '"",'), 'if-match': fill(LONG, '"a') },
    { 'x402-tx': fill(LONG, '1'), 'idempotency-key': fill(LONG / 2, 'k') },
    { 'x-forwarded-for': fill(LONG, '1.1.1.1, '), 'content-type': fill(2_000, 'application/json') },
  ]
  return [
    ...heads.map((headers) => ({ method, target, ...(headers && { headers }) })),
    { method, target: path.replaceAll(/\{\+?\w+\}/g, fill(LONG / 2, 'ab%20')) },
    { method, target: path.replaceAll(/\{\+\w+\}/g, fill(LONG, 'a/')).replaceAll(/\{\w+\}/g, 'x') },
    { method, target: `${target}?${names.map((name) => fill(LONG / names.length, `${name}=1&`)).join('')}` },
    { method, target: `${target}?${fill(LONG, 'a&')}` },
  ]
}
