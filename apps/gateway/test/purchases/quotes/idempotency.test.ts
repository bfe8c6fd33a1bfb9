import { hash, randomUUID } from 'node:crypto'
import type { Quote } from '@svc/api/purchases'
import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import { expectError, openMarket, payReqId } from '@svc/testbed/market'
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
  it('PAY-06 STATE-01 the same key and body get the same quote and header after prices changed', async () => {
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
    'PAY-07 ERR-20 T-27 the same key with another body is a 409: %j',
    async (order) => {
      const key = randomUUID()
      const id = await idUnder(key)
      expectError(await ask(key, order), 409, 'idempotency_conflict')
      expect(await idUnder(key)).toBe(id)
    },
  )

  it('PAY-06 PAY-07 fields that the gateway does not know count as a part of the body, at any depth', async () => {
    const key = randomUUID()
    const first = await ask(key, { units: 1, note: { b: [0.5, 'x'], a: 1 } })
    expect(first.status).toBe(402)
    expect((await ask(key, '{"note": {"a": 1, "b": [0.5, "x"]}, "units": 1}')).body).toEqual(first.body)
    for (const note of [undefined, { b: [0.5, 'x'], a: 2 }, { b: ['x', 0.5], a: 1 }, { b: [0.5, 'x'] }])
      expectError(await ask(key, { units: 1, note }), 409, 'idempotency_conflict')
  })

  it('PAY-06 a key that release 1.1.0 stored gets its quote again', async () => {
    const key = randomUUID()
    const order = { units: 2, provider: 'gcs' }
    const { body } = await ask(key, order)
    const { db } = shop.gateway.context.database
    const body_sha256 = hash('sha256', '[2,"gcs",null,null]')
    await writable(db).updateTable('idempotency_keys').set({ body_sha256 }).where('idempotency_key', '=', key).execute()
    expect((await ask(key, order)).body).toEqual(body)
  })

  it('AMB-50 a key has 1 to 255 visible characters and is compared exactly', async () => {
    for (const key of ['!', '~', 'k'.repeat(255), `{"a":'b'}`]) {
      const id = await idUnder(key)
      expect(await idUnder(key)).toBe(id)
    }
    expect(await idUnder('Key')).not.toBe(await idUnder('key'))
  })

  it.each(['', 'k'.repeat(256), 'two words', 'schlüssel'])('AMB-50 the key "%s" is a 422', async (key) => {
    const reply = await ask(key)
    expectError(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['header', 'Idempotency-Key'] }] })
  })

  it('AMB-50 a refused order leaves its key free', async () => {
    const key = randomUUID()
    expectError(await ask(key, { units: 0 }), 422, 'validation_error')
    expectError(await ask(key, { units: 1, pay_asset: 'DOGE' }), 400, 'leg_not_in_quote')
    expect(await idUnder(key)).toMatch(/^pr_/)
  })

  it('AMB-50 an unpaid quote is replaced under its key once it has expired, not before', async () => {
    const key = randomUUID()
    const id = await idUnder(key)
    market.clock.advance(300)
    expect(await idUnder(key)).toBe(id)
    market.clock.advance(1)
    const next = await idUnder(key)
    expect(next).not.toBe(id)
    expect(await idUnder(key)).toBe(next)
  })

  it('AMB-50 a paid quote stays under its key for 24 hours', async () => {
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

  it('AMB-50 T-27 keys older than 24 hours are deleted', async () => {
    await idUnder(randomUUID())
    market.clock.advance(DAY + 1)
    const last = randomUUID()
    await idUnder(last)
    await shop.gateway.context.queue.drain()
    const kept = await shop.gateway.context.database.db.selectFrom('idempotency_keys').selectAll().execute()
    expect(kept.map((row) => row.idempotency_key)).toEqual([last])
  })
})

describe.each(['sqlite', 'postgres'] as const)('concurrent requests with one key (%s)', (dialect) => {
  it('PAY-06 concurrent requests with one key at two gateways get one quote, also when it replaces an expired one', async () => {
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
