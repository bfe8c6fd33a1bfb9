import { DISTORTIONS, FLOODS, STALLS } from '@svc/devnet/distortions'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { forEachTest } from '@svc/devnet/for-tests'
import { startRateServer } from '@svc/devnet/rate-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createHermesSource, type HermesOptions } from '../../src/prices/hermes.ts'
import { FEEDS } from './feeds.ts'

const NOW = 1_800_000_000
const now = () => NOW * 1000

const server = forEachTest(() => startRateServer({ now, apiKey: 'a key' }))

function read(options: Partial<HermesOptions> = {}) {
  const source = createHermesSource({
    baseUrl: server.url,
    apiKey: 'a key',
    feeds: FEEDS,
    timeoutMs: 60_000,
    maxAgeSeconds: 60,
    maxConfidenceRatio: 0.02,
    now,
    ...options,
  })
  return source()
}

function wire(price: object): string {
  return JSON.stringify({ parsed: [{ id: FEEDS.SOL, price }] })
}

describe('reading Hermes prices', () => {
  it('sends the API key', async () => {
    expect((await read()).SOL).toEqual({ usd: '150.25', lowestUsd: '150.174875', publishedAt: NOW })
    await expect(read({ apiKey: 'another' })).rejects.toThrow('status 401')
    await expect(read({ apiKey: '' })).rejects.toThrow('status 401')
  })

  it('T-22 prices are exact texts of any size', async () => {
    for (const usd of ['0.000000000000000001', '12345678901.23456789', '0.1', '99999999999']) {
      server.setPrice('SOL', usd, { confidence: '0' })
      expect((await read()).SOL).toEqual({ usd, lowestUsd: usd, publishedAt: NOW })
    }
  })

  it.each([
    ['15025', -2, '150.25'],
    ['150', 0, '150'],
    ['15', 1, '150'],
    ['1500', -1, '150'],
  ])('%s × 10^%d is %s', async (price, expo, usd) => {
    server.answerAlways(200, wire({ price, conf: '0', expo, publish_time: NOW }))
    expect((await read()).SOL).toEqual({ usd, lowestUsd: usd, publishedAt: NOW })
  })

  it.each([
    ['no number', { price: 'NaN' }],
    ['too long', { price: '9'.repeat(20) }],
    ['without confidence', { conf: undefined }],
    ['with a negative confidence', { conf: '-1' }],
    ['with a fractional exponent', { expo: -1.5 }],
    ['with an absurd exponent', { expo: -1_000_000_000 }],
    ['without a time', { publish_time: null }],
  ])('T-22 a price %s is not read', async (_, change) => {
    const good = { price: '15025000000', conf: '1', expo: -8, publish_time: NOW }
    server.answerAlways(200, wire({ ...good, ...change }))
    expect((await read()).SOL).toEqual({ problem: 'the response has no valid price' })
  })

  it.each(['null', '[]', '{}', '{"parsed":{}}', '"text"'])('T-22 %s is not accepted as an answer', async (body) => {
    server.answerAlways(200, body)
    await expect(read()).rejects.toThrow('no list of prices')
  })

  it('T-22 invalid entries do not hide the valid one', async () => {
    const good = {
      id: `0x${FEEDS.SOL.toUpperCase()}`,
      price: { price: '1', conf: '0', expo: 0, publish_time: NOW },
    }
    server.answerAlways(200, JSON.stringify({ parsed: [null, 1, {}, { id: 7 }, good] }))
    expect(await read()).toMatchObject({ SOL: { usd: '1' }, MON: { problem: expect.any(String) } })
  })

  it('requests the configured feeds only, in any spelling of their ids', async () => {
    const feeds = { ETH: `0x${FEEDS.ETH.toUpperCase()}` }
    expect(await read({ feeds })).toEqual({ ETH: { usd: '3500', lowestUsd: '3498.25', publishedAt: NOW } })
  })

  it('requests each feed alone when one of them makes the server reject the whole request', async () => {
    server.removePrice('MON')
    const readings = await read()
    expect(readings).toMatchObject({
      SOL: { usd: '150.25' },
      MON: { problem: expect.any(String) },
      ETH: { usd: '3500' },
    })
    expect(server.requestCount).toBe(1 + Object.keys(FEEDS).length)
  })

  it('T-22 returns true prices or none, however the answer is damaged on its way', async () => {
    const proxy = await startFaultyProxy(server.url)
    onTestFinished(proxy.stop)
    const honest = await read()
    const none = Object.fromEntries(Object.keys(honest).map((symbol) => [symbol, { problem: expect.any(String) }]))
    for (const [name, distort] of Object.entries(DISTORTIONS)) {
      proxy.always(/./, { distort })
      const readings = await read({ baseUrl: proxy.url, ...(name in STALLS && { timeoutMs: 200 }) }).catch(() => none)
      if (name in STALLS || name in FLOODS) expect(readings, name).toEqual(none)
      else expect([honest, none], name).toContainEqual(readings)
      proxy.behave()
      expect(await read({ baseUrl: proxy.url }), `after ${name}`).toEqual(honest)
    }
  })

  it('times out when no answer arrives', async () => {
    server.hang()
    await expect(read({ timeoutMs: 50 })).rejects.toThrow('timeout')
  })
})
