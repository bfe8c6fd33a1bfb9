// Prices from a server with the Hermes protocol: one request for all coins, each price checked separately.

import { displayAmount } from '../amounts.ts'
import { createHttpClient, type TextAnswer } from '../nodes/http-client.ts'
import type { PriceReading, PriceSource } from './price-oracle.ts'

export interface HermesOptions {
  baseUrl: string
  apiKey?: string
  /** The id of the USD feed of each coin. */
  feeds: Readonly<Record<string, string>>
  /** The time limit of the whole reading, however many requests it takes. */
  timeoutMs: number
  maxAgeSeconds: number
  /** The limit for half the confidence interval divided by the price. */
  maxConfidenceRatio: number
  /** Unix milliseconds. */
  now: () => number
}

interface WirePrice {
  price: string
  conf: string
  expo: number
  publish_time: number
}

type Updates = ReadonlyMap<string, unknown>
type Ask = (ids: readonly string[], signal: AbortSignal) => Promise<TextAnswer>

export function createHermesSource(options: HermesOptions): PriceSource {
  const feeds = Object.entries(options.feeds).map(([symbol, id]) => ({ symbol, id: normalId(id) }))
  const client = createHttpClient()
  const headers = options.apiKey ? { authorization: `Bearer ${options.apiKey}` } : {}
  const ask: Ask = (ids, signal) => client(latestPrices(options, ids), { method: 'GET', headers }, signal)
  return async () => {
    const ids = feeds.map(({ id }) => id)
    const updates = await askForAll(ask, ids, AbortSignal.timeout(options.timeoutMs))
    return Object.fromEntries(feeds.map(({ symbol, id }) => [symbol, judge(options, updates.get(id))]))
  }
}

/**
 * The server rejects the whole request when it does not know a feed, or the key may not read it; then each is requested
 * alone.
 */
async function askForAll(ask: Ask, ids: readonly string[], signal: AbortSignal): Promise<Updates> {
  const { status, body } = await ask(ids, signal)
  if (status >= 200 && status < 300) return readUpdates(JSON.parse(body))
  const mayRejectOne = [400, 403, 404].includes(status) && ids.length > 1
  if (!mayRejectOne) throw new Error(`status ${status}`)
  const alone = await Promise.allSettled(ids.map((id) => askForAll(ask, [id], signal)))
  return new Map(alone.flatMap((result) => (result.status === 'fulfilled' ? [...result.value] : [])))
}

function latestPrices({ baseUrl }: HermesOptions, ids: readonly string[]): URL {
  const query = new URLSearchParams([...ids.map((id) => ['ids[]', id]), ['parsed', 'true']])
  return new URL(`${baseUrl}/v2/updates/price/latest?${query}`)
}

function readUpdates(answer: unknown): Updates {
  const parsed = isRecord(answer) ? answer.parsed : undefined
  if (!Array.isArray(parsed)) throw new Error('the response has no list of prices')
  const updates = parsed.filter(isRecord)
  return new Map(updates.map(({ id, price }) => [normalId(String(id)), price]))
}

function judge({ now, maxAgeSeconds, maxConfidenceRatio }: HermesOptions, price: unknown): PriceReading {
  if (!isWirePrice(price)) return { problem: 'the response has no valid price' }
  const age = Math.floor(now() / 1000) - price.publish_time
  if (Math.abs(age) > maxAgeSeconds) return { problem: `the price is ${age} s old` }
  const mantissa = BigInt(price.price)
  if (mantissa <= 0n) return { problem: 'the price is not positive' }
  const ratio = Number(price.conf) / Number(mantissa)
  if (ratio > maxConfidenceRatio)
    return { problem: `the price has an uncertainty of ${ratio.toPrecision(2)} of its value` }
  const { expo, publish_time: publishedAt } = price
  const lowest = mantissa - BigInt(price.conf)
  return { usd: decimalText(mantissa, expo), lowestUsd: decimalText(lowest, expo), publishedAt }
}

/** Wide enough for any coin; without a bound, an absurd exponent would exhaust the memory. */
const LARGEST_EXPONENT = 18

function isWirePrice(value: unknown): value is WirePrice {
  if (!isRecord(value)) return false
  const { price, conf, expo, publish_time } = value
  return (
    typeof price === 'string' &&
    /^-?\d{1,19}$/.test(price) &&
    typeof conf === 'string' &&
    /^\d{1,20}$/.test(conf) &&
    Number.isInteger(expo) &&
    Math.abs(expo as number) <= LARGEST_EXPONENT &&
    Number.isSafeInteger(publish_time)
  )
}

function decimalText(mantissa: bigint, expo: number): string {
  return expo <= 0 ? displayAmount(mantissa, -expo) : String(mantissa * 10n ** BigInt(expo))
}

function normalId(id: string): string {
  return id.toLowerCase().replace(/^0x/, '')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
