import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import type { Endpoint } from '@svc/api/endpoint'
import { gatewayEndpoints } from '@svc/api/gateway'
import { ed25519Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attest } from './evidence/attest.ts'

let instance: TestGateway
let locker: TestLocker
beforeAll(async () => {
  instance = await openTestGateway({ AUTO_REATTEST: 'true' })
  locker = await instance.locker(ed25519Identity())
  await locker.put('a.txt', 'a')
  await locker.put('b.txt', 'b')
  await attest(instance, locker)
})
afterAll(() => instance.close())

/** Every text in an answer, with the path to it. */
function* textsIn(value: unknown, path: string[] = []): Generator<[path: string[], text: string]> {
  if (typeof value === 'string') yield [path, value]
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* textsIn(item, [...path, key])
  }
}

/** Where the interface requires a hash without its prefix. */
const BARE: Record<string, RegExp> = {
  '/v1/storage/evidence-bundle': /^files\.\d+\.content_hash$/,
  '/v1/storage/redacted-bundle': /^files\.\d+\.content_hash$/,
}
const PUBLISHED = ['merkle_root', 'content_hash', 'result_hash', 'manifest_digest', 'recorded_hash', 'actual_hash']

describe('the conventions of the wire', () => {
  it('GEN-03 GEN-04 digests are lowercase hex, and published hashes have their prefix, in every answer about a locker', async () => {
    const query = `?receipt_id=${locker.receiptId}`
    const answers = await Promise.all(
      [
        `/v1/receipts/${locker.receiptId}`,
        `/v1/receipts/${locker.receiptId}/verify`,
        `/v1/storage/verify${query}`,
        `/v1/retrieve${query}`,
        `/v1/attest-code${query}`,
        `/v1/storage/merkle-proof${query}&filename=a.txt`,
        `/v1/storage/verification-bundle${query}`,
        `/v1/storage/evidence-bundle${query}`,
        `/v1/storage/redacted-bundle${query}&filename=a.txt`,
        `/v1/storage/dsse${query}`,
        `/v1/storage/recompute-verify${query}`,
        `/v1/storage/statements${query}`,
        '/v1/keys',
        '/v1/short-url/verify-key',
      ].map(async (path) => [path.replace(/\?.*/, ''), await instance.send('GET', path)] as const),
    )
    const signed = await Promise.all([
      locker.call(['locker:list'], 'GET', '/files'),
      locker.call(['locker:read'], 'GET', '/manifest'),
      locker.call(['locker:read'], 'GET', '/urls'),
    ])
    let digests = 0
    for (const [path, { status, body }] of [...answers, ...signed.map((reply) => ['', reply] as const)]) {
      expect(status, path).toBe(200)
      for (const [at, text] of textsIn(body)) {
        const name = at.at(-1) as string
        if (/^(sha256:)?[0-9a-fA-F]{64,}$/i.test(text)) expect(text, `${path} ${at}`).toBe(text.toLowerCase())
        if (!PUBLISHED.includes(name) || text === '') continue
        digests++
        const isBare = BARE[path]?.test(at.join('.')) ?? false
        expect(text, `${path} ${at}`).toMatch(isBare ? /^[0-9a-f]{64}$/ : /^sha256:[0-9a-f]{64}$/)
      }
    }
    expect(digests).toBeGreaterThan(30)
  })

  it('T-09 every response declares its type, forbids sniffing, and states whether it may be cached', async () => {
    const statuses = new Set<number>()
    for (const { method, path } of gatewayEndpoints) {
      const target = path
        .replace('{receipt_id}', locker.receiptId)
        .replace('{locker_id}', locker.lockerId)
        .replace('{+filename}', 'a.txt')
        .replace(/\{\+?\w+\}/g, 'AAAA')
      const query = method === 'GET' ? `?receipt_id=${locker.receiptId}&filename=a.txt` : ''
      const answer = await fetch(instance.gateway.url + target + query, { method })
      await answer.arrayBuffer()
      statuses.add(answer.status)
      const headers = Object.fromEntries(answer.headers)
      expect(headers, `${method} ${path}: ${answer.status}`).toMatchObject({
        'access-control-allow-origin': '*',
        'x-content-type-options': 'nosniff',
        'cache-control': expect.stringMatching(answer.ok ? /./ : /no-store/),
        'x-request-id': expect.stringMatching(/^req_/),
        ...(headers['content-length'] !== '0' && { 'content-type': expect.stringMatching(/^[a-z]+\/[a-z.+-]+/) }),
      })
      for (const name of ['server', 'x-powered-by', 'set-cookie']) expect(headers, path).not.toHaveProperty(name)
    }
    expect(statuses).toContain(200)
    expect(statuses).toContain(401)
    expect(statuses).toContain(404)
  })

  const open = gatewayEndpoints.filter(({ auth }) => auth === 'public' || auth === 'path-token')
  it.each(open.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const))(
    'GEN-05 %s needs no credentials, and stray ones change nothing',
    async (_, { method, path }: Endpoint) => {
      const target = path
        .replace('{receipt_id}', locker.receiptId)
        .replace('{+filename}', 'a.txt')
        .replace('{token}', 'AAAA')
      const filled = method === 'GET' ? `${target}?receipt_id=${locker.receiptId}&filename=a.txt` : target
      const send = async (headers: Record<string, string>) => {
        const body = method === 'POST' ? JSON.stringify({ receipt_id: locker.receiptId }) : null
        const answer = await fetch(instance.gateway.url + filled, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          body,
        })
        await answer.arrayBuffer()
        return answer.status
      }
      const status = await send({})
      expect(status).not.toBe(401)
      const stray = { authorization: 'Bearer x', 'x-svc-envelope': '%%%', 'x-svc-signature': '0', cookie: 'a=b' }
      expect(await send(stray)).toBe(status)
    },
  )

  it('EVT-01 storing, confirming and attesting send no requests, whatever URL a caller names', async () => {
    const hosts: string[] = []
    const byFetch: ChannelListener = (message) => {
      hosts.push(String((message as { request: { origin: unknown } }).request.origin))
    }
    const byHttp: ChannelListener = (message) => {
      hosts.push(`http://${(message as { request: ClientRequest }).request.getHeader('host')}`)
    }
    subscribe('undici:request:create', byFetch)
    subscribe('http.client.request.start', byHttp)
    try {
      const target = 'https://hooks.example/'
      const named = { webhook_url: target, callback_url: target, notify: target }
      const own = await instance.locker(ed25519Identity(), { tags: [`webhook:${target}`] })
      await own.put('a', 'a')
      await own.call(['locker:write'], 'POST', '/files', { filename: 'b', ...named })
      await attest(instance, own)
      await instance.send('POST', '/v1/storage/verify', { receipt_id: own.receiptId, ...named })
      instance.clock.advance(86_400)
      await instance.gateway.context.queue.drain()
    } finally {
      unsubscribe('undici:request:create', byFetch)
      unsubscribe('http.client.request.start', byHttp)
    }
    expect(hosts.length).toBeGreaterThan(5)
    // The only requests are those of this test.
    expect(new Set(hosts)).toEqual(new Set([instance.gateway.url]))
  })
})
