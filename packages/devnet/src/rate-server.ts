// A stand-in for the price network: the Hermes wire format over HTTP, with prices that the test sets.

import type { ServerResponse } from 'node:http'
import { ASSETS, type Asset, pricesOf } from '@svc/api/assets'
import { startHttpServer } from './http-server.ts'

/** Any other coin starts at one dollar. */
const FIRST_PRICES: Readonly<Record<string, string>> = { SOL: '150.25', MON: '0.035', ETH: '3500' }

export interface RateServerOptions {
  /** 0, the default, takes any free port. */
  port?: number
  host?: string
  /** Unix milliseconds. */
  now?: () => number
  /** When set, requests need it as their bearer token. */
  apiKey?: string
  /** The assets that it has prices of; the built-in ones by default. */
  assets?: readonly Asset[]
}

export interface RateServer {
  url: string
  readonly requestCount: number
  /** Any decimal text, negative too. `confidence` is in USD, a 2000th of the price by default. */
  setPrice(symbol: string, usd: string, quality?: { confidence?: string; ageSeconds?: number }): void
  /** Removes the feed; a request that names it is then refused as a whole. */
  removePrice(symbol: string): void
  answerAlways(status: number, body: string): void
  /** Accepts requests and never answers. */
  hang(): void
  /** Answers normally again. */
  recover(): void
  stop(): Promise<void>
}

interface Feed {
  price: bigint
  conf: bigint
  expo: number
  ageSeconds: number
}

export async function startRateServer(options: RateServerOptions = {}): Promise<RateServer> {
  const { port = 0, host = '127.0.0.1', now = Date.now, apiKey, assets = ASSETS } = options
  // The ids of the real network, so that a gateway's default settings work.
  const ids = new Map(pricesOf(assets).map(({ symbol, feed }) => [symbol, feed]))
  const feeds = new Map([...ids].map(([symbol, id]): [string, Feed] => [id, readFeed(FIRST_PRICES[symbol] ?? '1')]))
  let requestCount = 0
  let answer = answerPrices

  function idOf(symbol: string): string {
    const id = ids.get(symbol)
    if (id === undefined) throw new RangeError(`no asset has the price symbol ${symbol}`)
    return id
  }

  function answerPrices(target: string, response: ServerResponse) {
    const { pathname, searchParams } = new URL(target, 'http://rates')
    if (pathname !== '/v2/updates/price/latest') return send(response, 404, 'not found')
    const asked = searchParams.getAll('ids[]').map((id) => id.toLowerCase().replace(/^0x/, ''))
    if (asked.length === 0) return send(response, 400, 'Failed to deserialize query string: missing field `ids`')
    const unknown = asked.filter((id) => !feeds.has(id))
    if (unknown.length > 0) return send(response, 404, `Price ids not found: ${unknown.join(', ')}`)
    const seconds = Math.floor(now() / 1000)
    const parsed = asked.map((id) => wireUpdate(id, feeds.get(id) as Feed, seconds)) // every id was checked above
    send(response, 200, JSON.stringify({ binary: { encoding: 'hex', data: [] }, parsed }))
  }

  const { url, stop } = await startHttpServer(
    (request, response) => {
      requestCount++
      if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
        return send(response, 401, 'an API key is required')
      }
      answer(request.url ?? '/', response)
    },
    { port, host },
  )

  return {
    url,
    get requestCount() {
      return requestCount
    },
    setPrice(symbol, usd, doubts) {
      feeds.set(idOf(symbol), readFeed(usd, doubts))
    },
    removePrice(symbol) {
      feeds.delete(idOf(symbol))
    },
    answerAlways(status, body) {
      answer = (_target, response) => send(response, status, body)
    },
    hang() {
      answer = () => {}
    },
    recover() {
      answer = answerPrices
    },
    stop,
  }
}

function readFeed(
  usd: string,
  { confidence, ageSeconds = 0 }: { confidence?: string; ageSeconds?: number } = {},
): Feed {
  // Feeds have 8 decimals; a longer price gets as many as it needs.
  const scale = Math.max(8, placesOf(usd), placesOf(confidence ?? ''))
  const price = scaled(usd, scale)
  const conf = confidence === undefined ? (price < 0n ? -price : price) / 2000n : scaled(confidence, scale)
  return { price, conf, expo: -scale, ageSeconds }
}

function placesOf(text: string): number {
  return text.split('.')[1]?.length ?? 0
}

function scaled(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}

function wireUpdate(id: string, { price, conf, expo, ageSeconds }: Feed, seconds: number): object {
  const publishTime = seconds - ageSeconds
  const wirePrice = { price: price.toString(), conf: conf.toString(), expo, publish_time: publishTime }
  return {
    id,
    price: wirePrice,
    ema_price: wirePrice,
    metadata: { slot: publishTime * 2, proof_available_time: publishTime + 1, prev_publish_time: publishTime - 1 },
  }
}

function send(response: ServerResponse, status: number, body: string): void {
  const type = status === 200 ? 'application/json' : 'text/plain; charset=utf-8'
  response.writeHead(status, { 'content-type': type }).end(body)
}
