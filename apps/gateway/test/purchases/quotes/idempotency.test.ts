import { hash, randomUUID } from 'node:crypto'
import type { Quote } from '@svc/api/purchases'
import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectError, openMarket, payReqId } from '@svc/devnet/services/market'
import { writable } from '@svc/devnet/writable'
import { describe, expect, it, onTestFinished } from 'vitest'

const market = forAllTests(() => openMarket())
const shop = forAllTests(() => market.open())

const DAY = 86_400

function ask(key: string, order: unknown = { units: 1 }, seller = shop) {
  return seller.send<Quote>('POST', '/v1/storage/request', order, { 'idempotency-key': key })
}

async function idUnder(key: string, seller = shop): Promise<string> {
  const { status, body } = await ask(key, { units: 1 }, seller)
  expect(status).toBe(402)
  return payReqId(body)
}

describe('a quote under an Idempotency-Key', () => {
  it('PAY-06 STATE-01 the same key and body get the same quote and header after prices change', async () => {
    const key = randomUUID()
    const first = await ask(key, { units: 2, provider: 'gcs' })
    market.chains.rates.setPrice('SOL', '250')
    market.clock.advance(120)
    const again = await ask(key, '{ "provider" : "gcs", "units" : 2.0 }')
    expect(again.body).toEqual(first.body)
    expect(again.status).toBe(402)
    expect(again.headers.get('payment-required')).toBe(first.headers.get('payment-required'))
    const fresh = await shop.quote({ units: 2, provider: 'gcs' })
    expect(fresh.accepts[0]?.amount).not.toBe(first.body.accepts[0]?.amount)
  })

  it.each([{ units: 2 }, { units: 1, provider: 'gcs' }, { units: 1, unknown: null }])(
    'PAY-07 ERR-20 the same key with another body is a 409: %j',
    async (order) => {
      const key = randomUUID()
      const id = await idUnder(key)
      expectError(await ask(key, order), 409, 'idempotency_conflict')
      expect(await idUnder(key)).toBe(id)
    },
  )

  it('PAY-06 PAY-07 unknown fields count as part of the body at any depth', async () => {
    const key = randomUUID()
    const first = await ask(key, { units: 1, note: { b: [0.5, 'x'], a: 1 } })
    expect(first.status).toBe(402)
    expect((await ask(key, '{"note": {"a": 1, "b": [0.5, "x"]}, "units": 1}')).body).toEqual(first.body)
    for (const note of [undefined, { b: [0.5, 'x'], a: 2 }, { b: ['x', 0.5], a: 1 }, { b: [0.5, 'x'] }])
      expectError(await ask(key, { units: 1, note }), 409, 'idempotency_conflict')
  })

  it('PAY-06 a key stored by release 1.1.0 gets its quote again', async () => {
    const key = randomUUID()
    const order = { units: 2, provider: 'gcs' }
    const { body } = await ask(key, order)
    const { db } = shop.gateway.context.database
    const body_sha256 = hash('sha256', '[2,"gcs",null,null]')
    await writable(db).updateTable('idempotency_keys').set({ body_sha256 }).where('idempotency_key', '=', key).execute()
    expect((await ask(key, order)).body).toEqual(body)
  })

  it('PAY-06 a key has 1 to 255 visible characters and is compared exactly', async () => {
    for (const key of ['!', '~', 'k'.repeat(255), `{"a":'b'}`]) {
      const id = await idUnder(key)
      expect(await idUnder(key)).toBe(id)
    }
    expect(await idUnder('Key')).not.toBe(await idUnder('key'))
  })

  it.each(['', 'k'.repeat(256), 'two words', 'schlüssel'])('PAY-06 the key "%s" is a 422', async (key) => {
    const reply = await ask(key)
    expectError(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['header', 'Idempotency-Key'] }] })
  })

  it('PAY-06 a refused order does not use up its key', async () => {
    const key = randomUUID()
    expectError(await ask(key, { units: 0 }), 422, 'validation_error')
    expectError(await ask(key, { units: 1, pay_asset: 'DOGE' }), 400, 'leg_not_in_quote')
    expect(await idUnder(key)).toMatch(/^pr_/)
  })

  it('PAY-06 an unpaid quote is replaced under its key only after it has expired', async () => {
    const key = randomUUID()
    const id = await idUnder(key)
    market.clock.advance(300)
    expect(await idUnder(key)).toBe(id)
    market.clock.advance(1)
    const next = await idUnder(key)
    expect(next).not.toBe(id)
    expect(await idUnder(key)).toBe(next)
  })

  it('PAY-06 a paid quote stays under its key for 24 hours', async () => {
    const key = randomUUID()
    const { body } = await ask(key)
    const tx = await market.pay(body.accepts[0]!)
    expect((await shop.confirm({ pay_req_id: payReqId(body) }, tx)).status).toBe(200)
    market.clock.advance(DAY - 1)
    expect((await ask(key)).body).toEqual(body)
    market.clock.advance(1)
    const next = await ask(key, { units: 5 })
    expect(next.status).toBe(402)
    expect(payReqId(next.body)).not.toBe(payReqId(body))
  })

  it('PAY-06 T-27 keys older than 24 hours are deleted', async () => {
    await idUnder(randomUUID())
    market.clock.advance(DAY + 1)
    const last = randomUUID()
    await idUnder(last)
    await shop.gateway.context.queue.drain()
    const remaining = await shop.gateway.context.database.db.selectFrom('idempotency_keys').selectAll().execute()
    expect(remaining.map((row) => row.idempotency_key)).toEqual([last])
  })
})

describe('an Idempotency-Key and the address of its client', () => {
  const behindProxy = forAllTests(() => market.open({ TRUSTED_PROXIES: '127.0.0.0/8' }))
  const askFrom = (address: string, key: string, order: object = { units: 1 }, path = '/v1/storage/request') =>
    behindProxy.send<Quote>('POST', path, order, { 'idempotency-key': key, 'x-forwarded-for': address })

  it.each(['/v1/storage/request', '/v1/x402/storage'])(
    'PAY-07 T-27 a guessable key gives another address neither the quote nor a 409: %s',
    async (path) => {
      for (const squatted of [false, true]) {
        const key = `order-${path.length}-${squatted}`
        const [owner, other] = squatted ? ['203.0.113.9', '198.51.100.7'] : ['198.51.100.7', '203.0.113.9']
        const first = await askFrom(owner, key, { units: 1 }, path)
        const others = await askFrom(other, key, { units: 1 }, path)
        const third = await askFrom('192.0.2.1', key, { units: 2 }, path)
        expect([first.status, others.status, third.status]).toEqual([402, 402, 402])
        expect(new Set([first, others, third].map(({ body }) => body.accepts[0]?.extra.pay_req_id)).size).toBe(3)
        const again = await askFrom(owner, key, { units: 1 }, path)
        expect(again.body.accepts).toEqual(first.body.accepts)
        expectError(await askFrom(owner, key, { units: 2 }, path), 409, 'idempotency_conflict')
      }
    },
  )

  it('PAY-06 a guessable key stays valid within the IPv6 network of its client', async () => {
    const first = await askFrom('2001:db8:1:2::1', 'my-order')
    expect((await askFrom('2001:db8:1:2:ffff::', 'my-order')).body).toEqual(first.body)
    expect(payReqId((await askFrom('2001:db8:1:3::1', 'my-order')).body)).not.toBe(payReqId(first.body))
  })

  it.each([
    ['a random UUID', '9b2f6c1e-57d0-4e83-a1c4-0f8d37b6e52a'],
    ['a random UUID within other text', 'order-7:3D8A51F0-C2E6-47B9-8F14-6A90B7D2C35E/1'],
    ['a UUID of time and random bits', '01980f2e-8f5b-7c3d-9a4e-2b6f1d7c8e90'],
    ['16 bytes in hexadecimal', '5c80b86975c31468c76c91411984371d'],
    ['a SHA-256', hash('sha256', 'a signature')],
  ])('PAY-06 PAY-07 an unguessable key works from every address: %s', async (_, key) => {
    const first = await askFrom('198.51.100.7', key)
    expect((await askFrom('203.0.113.9', key)).body).toEqual(first.body)
    expectError(await askFrom('203.0.113.9', key, { units: 2 }), 409, 'idempotency_conflict')
  })

  it.each([
    ['one letter', 'a'.repeat(255)],
    ['a counter', '00000000000000000000000000000001'],
    ['a date', '20261115120000000000000012345678'],
    ['a UUID typed by hand', '00000000-0000-4000-8000-00000000000a'],
    ['a UUID of time and machine', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'],
    ['a UUID of a name', '2ed6657d-e927-568b-95e1-2665a8aea6a2'],
  ])('PAY-06 T-27 a long but guessable key is bound to its address: %s', async (_, key) => {
    const ids = [await askFrom('198.51.100.7', key), await askFrom('203.0.113.9', key)].map(({ body }) =>
      payReqId(body),
    )
    expect(ids[0]).not.toBe(ids[1])
  })

  it('T-27 ADD-31 a short key stored by release 1.1.0 gets its quote again, but allows another order', async () => {
    const { body } = await behindProxy.send<Quote>('POST', '/v1/storage/request', { units: 1 })
    const { db } = behindProxy.gateway.context.database
    const remaining = {
      idempotency_key: 'an-order',
      body_sha256: hash('sha256', '[1,null,null,null]'),
      pay_req_id: payReqId(body),
      created_at: Math.floor(market.clock.now() / 1000),
    }
    await writable(db).insertInto('idempotency_keys').values(remaining).execute()
    expect(payReqId((await askFrom('198.51.100.7', 'an-order')).body)).toBe(remaining.pay_req_id)
    const other = await askFrom('203.0.113.9', 'an-order', { units: 2 })
    expect(other.status).toBe(402)
    expect((await askFrom('203.0.113.9', 'an-order', { units: 2 })).body).toEqual(other.body)
    market.clock.advance(301)
    const next = payReqId((await askFrom('198.51.100.7', 'an-order')).body)
    expect(next).not.toBe(remaining.pay_req_id)
    expect(payReqId((await askFrom('192.0.2.1', 'an-order')).body)).not.toBe(next)
  })
})

describe.each(['sqlite', 'postgres'] as const)('concurrent requests with one key (%s)', (dialect) => {
  it('PAY-06 concurrent requests with one key at two gateways get one quote, even when it replaces an expired one', async () => {
    const database = await createFreshDatabase(dialect)
    onTestFinished(database.drop)
    const sellers = [
      await market.open({ DATABASE_URL: database.url }),
      await market.open({ DATABASE_URL: database.url }),
    ]
    const key = randomUUID()
    const rush = () => Promise.all(Array.from({ length: 20 }, (_, i) => idUnder(key, sellers[i % 2])))
    const first = new Set(await rush())
    expect(first.size).toBe(1)
    market.clock.advance(301)
    const second = new Set(await rush())
    expect(second.size).toBe(1)
    expect(second).not.toEqual(first)
    const { db } = sellers[0]!.gateway.context.database
    expect(await db.selectFrom('pay_requests').select('pay_req_id').execute()).toHaveLength(2)
    for (const seller of sellers) await seller.close()
  })
})
