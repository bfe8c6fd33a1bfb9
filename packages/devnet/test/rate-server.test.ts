import { forEachTest } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { startRateServer } from '../src/rate-server.ts'

const SOL = 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d'
const MON = '31491744e2dbf6df7fcf4ac0820d18a609b49076d45066d3568424e62f686cd1'
const NOW = 1_800_000_000

const server = forEachTest(() => startRateServer({ now: () => NOW * 1000 + 999 }))

function ask(...ids: string[]) {
  return fetch(`${server.url}/v2/updates/price/latest?${ids.map((id) => `ids[]=${id}`).join('&')}&parsed=true`)
}

describe('the local rate server', () => {
  it('answers in the Hermes format, in the order of the request', async () => {
    const response = await ask(MON, `0x${SOL.toUpperCase()}`)
    expect(response.status).toBe(200)
    const price = { price: '15025000000', conf: '7512500', expo: -8, publish_time: NOW }
    const { binary, parsed } = await response.json()
    expect(binary).toEqual({ encoding: 'hex', data: [] })
    expect(parsed.map(({ id }: { id: string }) => id)).toEqual([MON, SOL])
    expect(parsed[1]).toEqual({
      id: SOL,
      price,
      ema_price: price,
      metadata: { slot: NOW * 2, proof_available_time: NOW + 1, prev_publish_time: NOW - 1 },
    })
    expect(server.requestCount).toBe(1)
  })

  it.each([
    ['151', {}, { price: '15100000000', conf: '7550000', expo: -8, publish_time: NOW }],
    ['-0.5', {}, { price: '-50000000', conf: '25000', expo: -8, publish_time: NOW }],
    ['0', { ageSeconds: 90 }, { price: '0', conf: '0', expo: -8, publish_time: NOW - 90 }],
    ['0.123456789', { confidence: '1' }, { price: '123456789', conf: '1000000000', expo: -9, publish_time: NOW }],
  ])('returns the price %s with %j', async (usd, doubts, price) => {
    server.setPrice('SOL', usd, doubts)
    const { parsed } = await (await ask(SOL)).json()
    expect(parsed[0].price).toEqual(price)
  })

  it('refuses a request with an unknown feed, without feeds, or at another path', async () => {
    server.removePrice('SOL')
    expect((await ask(MON)).status).toBe(200)
    expect((await ask(MON, SOL)).status).toBe(404)
    expect((await ask()).status).toBe(400)
    expect((await fetch(`${server.url}/v2/price_feeds`)).status).toBe(404)
  })
})
