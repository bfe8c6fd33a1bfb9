import { createFile, fetchAndStore, listFiles } from '@svc/api/files'
import { health } from '@svc/api/info'
import { lockerMetadata, lockerRecord, refresh } from '@svc/api/lockers'
import { confirmStorage, requestStorage } from '@svc/api/purchases'
import type { Fault } from '@svc/devnet/faulty-proxy'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client.ts'
import type { ClientOptions, Retry } from '../../src/context.ts'
import { errorOf, newEd25519, useTestbed } from '../lockers.ts'

const testbed = useTestbed()
const signer = newEd25519()
let params: { locker_id: string }
beforeAll(async () => {
  params = { locker_id: (await testbed.locker(signer)).locker_id }
})

const CUT: Fault = { cut: 'request' }
const LOST: Fault = { cut: 'answer' }
const PAGE: Fault = { answer: { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' } }
const HOTEL: Fault = { answer: { status: 200, body: '<html>Welcome to the hotel</html>' } }
const refusal = (status: number, error: string, seconds?: number): Fault => ({
  answer: {
    status,
    headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
    body: { error, message: error, request_id: 'req_0' },
  },
})
const BUSY = refusal(429, 'RATE_LIMITED', 7)
const DOWN = refusal(503, 'STORAGE_UNAVAILABLE', 30)

const record = (client: Client) => client.call(lockerRecord, { params })
const quote = (client: Client) => client.call(requestStorage, { body: { units: 1 } })

/** Makes a call whose first requests have these faults. */
function under(faults: Fault[], call: (client: Client) => Promise<unknown> = record, options?: Partial<ClientOptions>) {
  testbed.proxy.plan(/./, ...faults)
  return call(testbed.client({ signer, ...options }))
}

const nonces = () =>
  testbed.proxy.seen.flatMap(({ headers }) => {
    const header = headers['x-svc-envelope']
    return header ? [JSON.parse(Buffer.from(String(header), 'base64url').toString()).nonce as string] : []
  })

describe('a call that may be repeated', () => {
  it.each<[string, Fault[]]>([
    ['a broken connection, with growing pauses', [CUT, LOST, CUT]],
    ['an answer that breaks in the middle', [{ cut: 20 }]],
    ['the page of a proxy', [PAGE]],
    ['an answer that is not JSON', [HOTEL]],
  ])('is sent again after %s, with a new envelope each time', async (_, faults) => {
    await under(faults)
    expect(new Set(nonces()).size).toBe(faults.length + 1)
    expect(testbed.waits).toHaveLength(faults.length)
    for (const [i, ms] of testbed.waits.entries()) {
      expect(ms).toBeGreaterThanOrEqual(400 * 2 ** i)
      expect(ms).toBeLessThanOrEqual(600 * 2 ** i)
    }
  })

  it('changes nothing twice', async () => {
    await under([LOST], (client) => client.call(createFile, { params, body: { filename: 'named' } }))
    const { body } = await testbed.client({ signer }).call(listFiles, { params })
    expect(body.files.filter(({ filename }) => filename === 'named')).toHaveLength(1)
  })

  it('LIM-11 waits as long as the gateway requests, and calls onRetry', async () => {
    const retries: Retry[] = []
    await under([CUT, BUSY, refusal(503, 'chain_unavailable', 3)], record, { onRetry: (retry) => retries.push(retry) })
    expect(testbed.waits.slice(1)).toEqual([7000, 3000])
    expect(retries).toMatchObject([
      { service: 'gateway', failures: 1, error: { name: 'NoAnswer' } },
      { service: 'gateway', failures: 2, waitMs: 7000, error: { code: 'RATE_LIMITED' } },
      { failures: 3, waitMs: 3000 },
    ])
  })

  it('fails after five attempts', async () => {
    expect(await errorOf(under(Array(5).fill(CUT)))).toMatchObject({ name: 'NoAnswer', attempts: 5 })
    expect(testbed.proxy.seen).toHaveLength(5)
  })

  it.each<[string, Fault]>([
    ['RATE_LIMITED', refusal(429, 'RATE_LIMITED', 600)],
    ['LOCKER_LIMIT_EXCEEDED', refusal(429, 'LOCKER_LIMIT_EXCEEDED')],
    ['database_behind', refusal(503, 'database_behind', 60)],
  ])('ERR-25 T-66 fails immediately if waiting would take minutes or not help: %s', async (code, fault) => {
    expect(await errorOf(under([fault]))).toMatchObject({ code, attempts: 1 })
    expect(testbed.waits).toEqual([])
  })

  it('T-66 waits seconds for a database that is being checked', async () => {
    await under([refusal(503, 'database_behind', 2)])
    expect(testbed.waits).toEqual([2000])
  })

  it('waits for storage for minutes, seconds or without limit, as configured', async () => {
    expect(await errorOf(under(Array(5).fill(DOWN)))).toMatchObject({ attempts: 5 })
    expect(testbed.waits.splice(0)).toEqual([30_000, 30_000, 30_000, 30_000])
    await under(Array(8).fill(DOWN), record, { retryStorageFor: 'forever' })
    expect(testbed.waits.splice(0)).toHaveLength(8)
    const brief = testbed.client({ signer, retryStorageFor: 'seconds' })
    for (const attempts of [2, 1])
      expect(await errorOf(under(Array(attempts).fill(DOWN), () => record(brief)))).toMatchObject({ attempts })
    expect(testbed.waits).toEqual([expect.closeTo(2000, -3)])
  })
})

describe('a call that must not be repeated', () => {
  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['a quote without an idempotency key', quote],
    ['a file that the gateway names', (client) => client.call(createFile, { params, body: {} })],
    [
      'a fetch into a file that the gateway names',
      (client) => client.call(fetchAndStore, { body: { ...params, source_url: 'https://example.com/' } }),
    ],
  ])('fails if its answer is lost: %s', async (_, call) => {
    expect(await errorOf(under([LOST], call))).toMatchObject({ name: 'NoAnswer', attempts: 1 })
    expect(testbed.proxy.seen).toHaveLength(1)
  })

  it("fails with the status of a proxy's answer", async () => {
    const error = await errorOf(under([PAGE], quote))
    expect(error).toMatchObject({ name: 'GatewayError', code: 'http_502', status: 502, requestId: null })
  })

  it('is sent again after a refusal that had no effect', async () => {
    const error = await errorOf(under([BUSY, refusal(503, 'chain_unavailable', 1)], quote))
    expect(error).toMatchObject({ code: 'chain_unavailable', attempts: 2 })
  })
})

describe('a refused envelope', () => {
  it.each([
    ['EXPIRED_ENVELOPE', 'behind', -3_600_000],
    ['ENVELOPE_NOT_YET_VALID', 'ahead', 3_600_000],
  ])('ENV-14 ERR-13 %s makes a client whose clock is an hour %s correct it once', async (_, __, skew) => {
    const client = testbed.client({ signer }, { now: () => Date.now() + skew })
    await record(client)
    await record(client)
    const asked = testbed.proxy.seen.map(({ path }) => path.split('/').at(-1))
    expect(asked).toEqual(['record', 'health', 'record', 'record'])
  })

  it('fails the call after one retry if the clock is right', async () => {
    testbed.proxy.always(/record/, refusal(403, 'EXPIRED_ENVELOPE'))
    expect(await errorOf(record(testbed.client({ signer })))).toMatchObject({ code: 'EXPIRED_ENVELOPE', attempts: 2 })
  })

  it('ENV-22 is retried once after status 422, with an envelope for the exact bytes', async () => {
    await under([refusal(422, 'validation_error')], (client) => client.call(refresh, { body: params }))
    expect(new Set(nonces()).size).toBe(2)
    const error = await errorOf(testbed.client({ signer }).call(createFile, { params, body: { filename: '../a' } }))
    expect(error).toMatchObject({ code: 'validation_error', attempts: 2 })
  })

  it('ENV-22 is not retried after status 422 if the call has no envelope', async () => {
    const error = await errorOf(testbed.client().call(confirmStorage, { body: { pay_req_id: 7 as never } }))
    expect(error).toMatchObject({ code: 'validation_error', attempts: 1 })
  })

  it('ENV-13 is retried with a new nonce if its nonce was replayed', async () => {
    await under([refusal(403, 'NONCE_REPLAYED')])
    expect(new Set(nonces()).size).toBe(2)
  })
})

it('a wait for the next attempt ends when the signal aborts', async () => {
  testbed.proxy.always(/metadata/, refusal(429, 'RATE_LIMITED', 60))
  const controller = new AbortController()
  const client = createClient({ baseUrl: testbed.proxy.url, signer })
  const call = client.call(lockerMetadata, { params, signal: controller.signal })
  await expect.poll(() => testbed.proxy.seen.length).toBe(1)
  controller.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
})

it.each([
  ['ENOTFOUND', 'there is no host with this name', 1],
  ['CERT_HAS_EXPIRED', 'its certificate has expired', 1],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'not signed by an authority', 1],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS', 1],
  ['UND_ERR_HEADERS_TIMEOUT', 'it does not answer in time', 1],
  ['ECONNREFUSED', 'nothing listens at this address', 5],
  ['ECONNRESET', 'the connection was cut', 5],
])('the network error %s is reported as "%s" after %i attempts', async (code, reason, attempts) => {
  const fetch = async () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
  }
  const message = expect.stringContaining(reason)
  expect(await errorOf(testbed.client({ fetch }).call(health))).toMatchObject({ name: 'NoAnswer', message, attempts })
})

it('a web page is not accepted as a gateway', async () => {
  const fetch = async () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
  expect(await errorOf(testbed.client({ fetch }).call(health))).toMatchObject({ name: 'NotThisService', attempts: 1 })
})
