import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectError, openMarket } from '@svc/devnet/services/market'
import { describe, expect, it } from 'vitest'

const market = forAllTests(() => openMarket())
// PostgreSQL rejects some texts that SQLite stores.
const database = forAllTests(() => createFreshDatabase('postgres'))
const shop = forAllTests(() => market.open({ DATABASE_URL: database.url }))

describe('orders that are refused', () => {
  it.each([
    ['nothing', {}],
    ['0', { units: 0 }],
    ['1.5', { units: 1.5 }],
    ['"3"', { units: '3' }],
    ['1000001', { units: 1_000_001 }],
    ['1e300', { units: 1e300 }],
  ])('PAY-02 GEN-02 an order with units %s is a 422', async (_, order) => {
    const reply = await shop.send('POST', '/v1/storage/request', order)
    expectError(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({
      detail: [{ loc: ['body', 'units'], msg: expect.any(String), type: 'value_error' }],
    })
  })

  it.each(['s3', 'GCS', '__proto__', null])('PAY-03 GEN-10 an order with provider %j is a 422', async (provider) => {
    const reply = await shop.send('POST', '/v1/storage/request', { units: 1, provider })
    expectError(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'provider'] }] })
    const query = `/v1/price?provider=${encodeURIComponent(String(provider))}`
    if (typeof provider === 'string') expect((await shop.send('GET', query)).status).toBe(422)
  })

  it('PAY-02 units may be written as 1.0, and unknown fields are ignored', async () => {
    const { status } = await shop.send('POST', '/v1/storage/request', '{"units":1.0,"colour":"blue","amount_sol":"0"}')
    expect(status).toBe(402)
  })
})

const MALFORMED: [string, string | Uint8Array][] = [
  ['units twice', '{"units":1,"units":2}'],
  ['a NUL as network', '{"units":1,"pay_network":"\\u0000"}'],
  ['an asset with a lookalike letter', '{"units":1,"pay_asset":"uſdc"}'],
  ['__proto__ as key', '{"__proto__":{"units":1}}'],
]

describe('malformed requests', () => {
  it.each(MALFORMED)(
    'PAY-02 %s in place of an order is a 4xx with a code, with and without an Idempotency-Key',
    async (name, body) => {
      for (const headers of [{}, { 'idempotency-key': Buffer.from(name).toString('hex') }]) {
        const reply = await shop.send<{ error: string }>('POST', '/v1/storage/request', body, headers)
        expect(reply.body.error).toBeOneOf(['validation_error', 'leg_not_in_quote'])
        expect(reply.status).toBeOneOf([400, 422])
        expect(reply.headers.get('payment-required')).toBeNull()
      }
    },
  )

  it('PAY-40 malformed confirmations are a 422, and unknown quotes a 404', async () => {
    const tx_sig = `0x${'ab'.repeat(32)}`
    const ids = ['pr_', 'x'.repeat(7_000), "' or 1=1 --", '__proto__', '%']
    const bodies = ids.map((pay_req_id) => JSON.stringify({ pay_req_id, tx_sig }))
    for (const body of bodies)
      expectError(await shop.send('POST', '/v1/storage/confirm', body), 404, 'pay_req_not_found')
    for (const text of ['\\u0000', '\\ud800']) {
      const body = `{"pay_req_id":"${text}","tx_sig":"${tx_sig}"}`
      expectError(await shop.send('POST', '/v1/storage/confirm', body), 422, 'validation_error')
    }
    for (const [, body] of MALFORMED)
      expectError(await shop.send('POST', '/v1/storage/confirm', body), 422, 'validation_error')
  })
})
