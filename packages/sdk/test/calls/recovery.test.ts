import { createFile, fetchAndStore, listFiles } from '@svc/api/files'
import { health, keys } from '@svc/api/info'
import { lockerMetadata, lockerRecord, refresh, removeOperator } from '@svc/api/lockers'
import { confirmStorage, requestStorage } from '@svc/api/purchases'
import type { Fault } from '@svc/devnet/faulty-proxy'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Client, createClient } from '../../src/client.ts'
import type { Retry } from '../../src/context.ts'
import { NoAnswer } from '../../src/errors.ts'
import type { Signer } from '../../src/signers.ts'
import { errorOf, type House, newEd25519, openHouse } from '../lockers.ts'

let house: House
let signer: Signer
let params: { locker_id: string }
beforeAll(async () => {
  house = await openHouse()
  signer = newEd25519()
  params = { locker_id: (await house.locker(signer)).locker_id }
})
afterAll(() => house.close())
beforeEach(() => {
  house.waits.length = 0
  house.proxy.seen.length = 0
})

const CUT: Fault = { cut: 'request' }
const LOST: Fault = { cut: 'answer' }
const refusal = (status: number, error: string, headers = {}): Fault => ({
  answer: { status, headers, body: { error, message: error, request_id: 'req_0' } },
})
const nonces = () =>
  house.proxy.seen.flatMap(({ headers }) => {
    const header = headers['x-svc-envelope']
    return header ? [JSON.parse(Buffer.from(String(header), 'base64url').toString()).nonce as string] : []
  })

describe('a broken connection', () => {
  it('is retried with growing pauses and a new envelope each time', async () => {
    house.proxy.plan(/record/, CUT, LOST, CUT)
    const { body } = await house.client({ signer }).call(lockerRecord, { params })
    expect(body.locker_id).toBe(params.locker_id)
    expect(new Set(nonces()).size).toBe(4)
    expect(house.waits).toHaveLength(3)
    for (const [i, ms] of house.waits.entries()) {
      expect(ms).toBeGreaterThanOrEqual(400 * 2 ** i)
      expect(ms).toBeLessThanOrEqual(600 * 2 ** i)
    }
  })

  it('is not retried after a timeout of minutes', async () => {
    const silent = new TypeError('fetch failed', {
      cause: Object.assign(new Error(), { code: 'UND_ERR_HEADERS_TIMEOUT' }),
    })
    const fetch = () => Promise.reject(silent)
    await expect(house.client({ signer, fetch }).call(lockerRecord, { params })).rejects.toMatchObject({
      name: 'NoAnswer',
      attempts: 1,
    })
  })

  it('is reported to onRetry before each wait', async () => {
    const retries: Retry[] = []
    const client = house.client({ signer, onRetry: (retry) => void retries.push(retry) })
    house.proxy.plan(/record/, CUT, refusal(429, 'RATE_LIMITED', { 'retry-after': '7' }))
    await client.call(lockerRecord, { params })
    expect(retries).toMatchObject([
      { service: 'gateway', failures: 1, error: { name: 'NoAnswer' } },
      { service: 'gateway', failures: 2, waitMs: 7000, error: { code: 'RATE_LIMITED' } },
    ])
    expect(retries.map(({ waitMs }) => Math.round(waitMs))).toEqual(house.waits)
  })

  it('fails the call after five attempts', async () => {
    house.proxy.plan(/health/, CUT, CUT, CUT, CUT, CUT)
    const error = await errorOf(house.client().call(health))
    expect(error).toBeInstanceOf(NoAnswer)
    expect(error).toMatchObject({ attempts: 5 })
    expect(house.proxy.seen).toHaveLength(5)
  })

  it('is retried when it breaks in the middle of an answer', async () => {
    house.proxy.plan(/keys/, { cut: 20 })
    expect((await house.client().call(keys)).body.keys.length).toBeGreaterThan(0)
    expect(house.proxy.seen).toHaveLength(2)
  })

  it.each([
    ['a quote without an idempotency key', (client: Client) => client.call(requestStorage, { body: { units: 1 } })],
    ['a file that the gateway names', (client: Client) => client.call(createFile, { params, body: {} })],
    [
      'a fetch into a file that the gateway names',
      (client: Client) => client.call(fetchAndStore, { body: { ...params, source_url: 'https://example.com/' } }),
    ],
  ])('fails a call that must not be repeated: %s', async (_, make) => {
    house.proxy.plan(/./, LOST)
    expect(await errorOf(make(house.client({ signer })))).toBeInstanceOf(NoAnswer)
    expect(house.proxy.seen).toHaveLength(1)
  })

  it('is retried for a call that may be repeated', async () => {
    house.proxy.plan(/files$/, LOST)
    await house.client({ signer }).call(createFile, { params, body: { filename: 'named' } })
    expect(house.proxy.seen).toHaveLength(2)
    const { body } = await house.client({ signer }).call(listFiles, { params })
    expect(body.files.filter(({ filename }) => filename === 'named')).toHaveLength(1)
  })
})

describe('an answer from a proxy', () => {
  const html: Fault = {
    answer: { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' },
  }

  it('is retried like a broken connection', async () => {
    house.proxy.plan(/health/, html)
    expect((await house.client().call(health)).status).toBe(200)
  })

  it('is thrown with its status when the call must not be repeated', async () => {
    house.proxy.plan(/request/, html)
    const error = await errorOf(house.client().call(requestStorage, { body: { units: 1 } }))
    expect(error).toMatchObject({ name: 'GatewayError', code: 'http_502', status: 502, requestId: null })
  })

  it('is retried when it has status 200 and is not JSON', async () => {
    house.proxy.plan(/keys/, { answer: { status: 200, body: '<html>Welcome to the hotel</html>' } })
    expect((await house.client().call(keys)).body.keys.length).toBeGreaterThan(0)
  })
})

describe('a busy gateway', () => {
  it('LIM-11 gets the next attempt after its Retry-After', async () => {
    house.proxy.plan(/record/, refusal(429, 'RATE_LIMITED', { 'retry-after': '7' }))
    house.proxy.plan(/record/, refusal(503, 'STORAGE_UNAVAILABLE', { 'retry-after': '3' }))
    await house.client({ signer }).call(lockerRecord, { params })
    expect(house.waits).toEqual([7000, 3000])
  })

  it('fails the call when its Retry-After is minutes', async () => {
    house.proxy.plan(/health/, refusal(429, 'RATE_LIMITED', { 'retry-after': '600' }))
    expect(await errorOf(house.client().call(health))).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 600 })
    expect(house.waits).toEqual([])
  })

  it('gets a call again even if it must not be repeated, because the refused one had no effect', async () => {
    house.proxy.plan(/request/, refusal(429, 'RATE_LIMITED', { 'retry-after': '1' }))
    house.proxy.plan(/request/, refusal(503, 'chain_unavailable', { 'retry-after': '1' }))
    const error = await errorOf(house.client().call(requestStorage, { body: { units: 1 } }))
    expect(error).toMatchObject({ code: 'chain_unavailable', attempts: 2 })
  })

  it('T-102 is not waited for where a database was restored: its operator heals it', async () => {
    const { client, proxy, waits } = house
    proxy.plan(/record/, refusal(503, 'database_behind', { 'retry-after': '60' }))
    expect(await errorOf(client({ signer }).call(lockerRecord, { params }))).toMatchObject({
      code: 'database_behind',
      attempts: 1,
    })
    expect(waits).toEqual([])
    proxy.plan(/record/, refusal(503, 'database_behind', { 'retry-after': '2' }))
    await client({ signer }).call(lockerRecord, { params })
    expect(waits).toEqual([2000])
  })

  it('ERR-25 fails the call at once when a locker limit is exceeded', async () => {
    house.proxy.plan(/refresh/, refusal(429, 'LOCKER_LIMIT_EXCEEDED'))
    const error = await errorOf(house.client({ signer }).call(refresh, { body: params }))
    expect(error).toMatchObject({ code: 'LOCKER_LIMIT_EXCEEDED', attempts: 1 })
  })
})

describe('a refused envelope', () => {
  it.each([
    ['EXPIRED_ENVELOPE', 'behind', -3_600_000],
    ['ENVELOPE_NOT_YET_VALID', 'ahead', 3_600_000],
  ])('ENV-14 ERR-13 with %s makes a client whose clock is an hour %s correct it once', async (_, __, skew) => {
    const client = house.client({ signer }, { now: () => Date.now() + skew })
    await client.call(lockerRecord, { params })
    expect(house.proxy.seen.map(({ path }) => path.split('/').at(-1))).toEqual(['record', 'health', 'record'])
    await client.call(lockerRecord, { params })
    expect(house.proxy.seen).toHaveLength(4)
  })

  it('fails the call after one retry when the clock is right', async () => {
    house.proxy.always(/nowhere/, refusal(403, 'EXPIRED_ENVELOPE'))
    const remove = { params: { ...params, pubkey: 'nowhere' } }
    const error = await errorOf(house.client({ signer }).call(removeOperator, remove))
    expect(error).toMatchObject({ code: 'EXPIRED_ENVELOPE', attempts: 2 })
  })

  it('ENV-22 with status 422 is retried once with an envelope for the exact bytes', async () => {
    house.proxy.plan(/refresh/, refusal(422, 'validation_error'))
    await house.client({ signer }).call(refresh, { body: params })
    expect(new Set(nonces()).size).toBe(2)
    const error = await errorOf(house.client({ signer }).call(createFile, { params, body: { filename: '../a' } }))
    expect(error).toMatchObject({ code: 'validation_error', attempts: 2 })
  })

  it('ENV-22 with status 422 is not retried for a call without an envelope', async () => {
    const error = await errorOf(house.client().call(confirmStorage, { body: { pay_req_id: 7 as never } }))
    expect(error).toMatchObject({ code: 'validation_error', attempts: 1 })
  })

  it('ENV-13 with a replayed nonce is retried with a new nonce', async () => {
    house.proxy.plan(/record/, refusal(403, 'NONCE_REPLAYED'))
    await house.client({ signer }).call(lockerRecord, { params })
    expect(new Set(nonces()).size).toBe(2)
  })
})

it('a wait for the next attempt ends when the signal aborts', async () => {
  house.proxy.always(/metadata/, refusal(429, 'RATE_LIMITED', { 'retry-after': '60' }))
  const controller = new AbortController()
  const client = createClient({ baseUrl: house.proxy.url, signer })
  const call = client.call(lockerMetadata, { params, signal: controller.signal })
  await expect.poll(() => house.proxy.seen.length).toBe(1)
  controller.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
})

describe('storage that is not available', () => {
  const down = refusal(503, 'STORAGE_UNAVAILABLE', { 'retry-after': '30' })
  const ask = (client: Client) => client.call(lockerRecord, { params })

  it('is waited for in minutes, unless the caller would rather decide within seconds', async () => {
    house.proxy.always(/record/, down)
    await errorOf(ask(house.client({ signer })))
    expect(house.waits).toEqual([30_000, 30_000, 30_000, 30_000])
    house.waits.length = 0
    const hasty = house.client({ signer, storagePatience: 'seconds' })
    expect(await errorOf(ask(hasty))).toMatchObject({ code: 'STORAGE_UNAVAILABLE', attempts: 2 })
    expect(house.waits).toHaveLength(1)
    expect(house.waits[0]).toBeLessThan(3000)
    expect(await errorOf(ask(hasty))).toMatchObject({ attempts: 1 })
    house.proxy.behave()
  })

  it('is waited for without end where that is wanted', async () => {
    house.proxy.plan(/record/, ...Array<Fault>(8).fill(down))
    await ask(house.client({ signer, storagePatience: 'endless' }))
    expect(house.waits).toHaveLength(8)
  })
})

describe('what cannot answer', () => {
  const failing = (code: string) => async () => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) })
  }

  it.each([
    ['ENOTFOUND', 'there is no host of this name', 1],
    ['CERT_HAS_EXPIRED', 'its certificate has expired', 1],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'not signed by an authority', 1],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS', 1],
    ['ECONNREFUSED', 'nothing listens at this address', 5],
    ['ECONNRESET', 'the connection was cut', 5],
  ])('%s: says that %s, after %i attempts', async (code, reason, attempts) => {
    const client = createClient({ baseUrl: 'https://gateway.example', fetch: failing(code) }, { wait: house.wait })
    expect(await errorOf(client.call(health))).toMatchObject({
      name: 'NoAnswer',
      message: expect.stringContaining(reason),
      attempts,
    })
  })

  it('a web page is not a gateway', async () => {
    const page = async () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
    const client = createClient({ baseUrl: 'https://gateway.example', fetch: page }, { wait: house.wait })
    expect(await errorOf(client.call(health))).toMatchObject({ name: 'NotThisService', attempts: 1 })
  })
})
