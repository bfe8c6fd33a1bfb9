// USD rates of the coins: requested once a minute, and kept within bounds. When no valid price arrives, the last good
// price is used for an hour, then the configured rate; a coin without either has no rate.

import { isoSeconds } from '@svc/protocol/evidence'
import { type Decimal, parseDecimal } from '../amounts.ts'

/**
 * One coin's price as a source reports it, with the lower end of its confidence interval, or the reason why there is
 * none.
 */
export type PriceReading = { usd: string; lowestUsd: string; publishedAt: number } | { problem: string }
type PriceReadings = Readonly<Record<string, PriceReading>>

/** Requests all prices at once. A coin may be missing; when the promise is rejected, all are. */
export type PriceSource = () => Promise<PriceReadings>

/**
 * `oracle_rate` of a quote's leg. `fallback` marks a substitute for a new price: an older one, or a configured rate.
 */
export interface Rate {
  usd: string
  source: 'oracle' | 'fallback'
  as_of: string
  fallback: boolean
}

/** The substitute for a price that cannot be used. */
type Substitute = 'last price' | 'configured rate' | 'none'

/** By symbol; null when no price is known: such a leg cannot be offered. */
export type Rates = Readonly<Record<string, Rate | null>>

export interface PriceOracleOptions {
  /** The coins whose prices are needed. */
  symbols: readonly string[]
  source: PriceSource
  fallback: Readonly<Record<string, string>>
  /** Unix milliseconds. */
  now: () => number
  cacheMs?: number
  /** Called for each price that could not be used, with its substitute. */
  onProblem?: (symbol: string, problem: string, substitute: Substitute) => void
}

export interface PriceOracle {
  /** The same object until a rate is refreshed. */
  rates(): Promise<Rates>
  /** The coins that had no rate at the last request. */
  missing(): string[]
  /** The current rate of each coin, without querying the source. */
  states(): PriceState[]
}

/** `last_price` and `configured` are substitutes for a price that the source does not report. */
export interface PriceState {
  symbol: string
  state: 'ok' | 'last_price' | 'configured' | 'missing' | 'not_asked'
  usd: string | null
  /** When the price was published, in Unix seconds. */
  publishedAt: number | null
}

interface Entry {
  rate: Rate | null
  at: number
  isGood: boolean
  /** The rate must not be used after this time, even if nothing newer is known. */
  until: number
}

interface GoodPrice {
  price: Decimal
  /** The lower bound of the last price. */
  lowestUsd: string
  publishedAt: number
  /** When the price was published, but never in the future. */
  at: number
}

const CACHE_MS = 60_000
const RETRY_MS = 5_000
const LARGEST_JUMP = 10n
/**
 * How long the last good price is used, and limits new prices. Without an end, a real move beyond the limit would never
 * be accepted.
 */
const GOOD_MS = 3_600_000

/**
 * A rate is valid for its 60 s (PAY-28). After that, if there is no new price, the rate is the lower end of the last
 * good price's confidence interval: the buyer pays at least what the known price required (T-22). After an hour the
 * configured rate is used, unless it is as far from the last good price as a new price may not be.
 */
export function createPriceOracle(options: PriceOracleOptions): PriceOracle {
  const { symbols, source, fallback, now, cacheMs = CACHE_MS, onProblem } = options
  const entries = new Map<string, Entry>()
  let current: Rates = {}
  const lastGood = new Map<string, GoodPrice>()
  let request: Promise<void> | null = null
  for (const usd of Object.values(fallback))
    if (!positive(usd)) throw new RangeError(`${usd} is not a valid fallback price`)

  async function refresh(): Promise<void> {
    const readings = await read(source, symbols)
    const time = now()
    for (const symbol of symbols) {
      // While one coin is retried, the others keep their rate until its minute ends.
      if (isDue(entries.get(symbol), time)) entries.set(symbol, judge(symbol, readings[symbol], time))
    }
    current = Object.fromEntries(symbols.map((symbol) => [symbol, entries.get(symbol)?.rate ?? null]))
  }

  function judge(symbol: string, reading: PriceReading | undefined, at: number): Entry {
    const good = lastGood.get(symbol)
    const recent = good && isWithin(GOOD_MS, good.at, at) ? good : null
    const checked = check(reading, recent?.price ?? null)
    if ('problem' in checked) {
      const rate = recent ? lastRate(recent) : configuredRate(fallback[symbol], good?.price, at)
      onProblem?.(symbol, checked.problem, recent ? 'last price' : rate ? 'configured rate' : 'none')
      return { rate, at, isGood: false, until: recent ? recent.at + GOOD_MS : Number.POSITIVE_INFINITY }
    }
    const { price, rate, lowestUsd, publishedAt } = checked
    lastGood.set(symbol, { price, lowestUsd, publishedAt, at: Math.min(at, publishedAt * 1000) })
    return { rate, at, isGood: true, until: Number.POSITIVE_INFINITY }
  }

  function isDue(entry: Entry | undefined, time: number): boolean {
    return !entry || time >= entry.until || !isWithin(entry.isGood ? cacheMs : RETRY_MS, entry.at, time)
  }

  function isUsable(entry: Entry | undefined, time: number): boolean {
    return entry !== undefined && time < entry.until && isWithin(cacheMs, entry.at, time)
  }

  return {
    states: () =>
      symbols.map((symbol) => {
        const rate = entries.get(symbol)?.rate
        const published = rate?.source === 'oracle' ? Math.floor(Date.parse(rate.as_of) / 1000) : null
        return { symbol, state: stateOf(rate), usd: rate?.usd ?? null, publishedAt: published }
      }),

    missing: () => symbols.filter((symbol) => entries.get(symbol)?.rate === null),

    async rates() {
      const time = now()
      if (symbols.some((symbol) => isDue(entries.get(symbol), time))) {
        request ??= refresh().finally(() => {
          request = null
        })
        // A source that just failed is retried in the background: if it hangs, quotes do not.
        if (!symbols.every((symbol) => isUsable(entries.get(symbol), time))) await request
      }
      return current
    },
  }
}

function stateOf(rate: Rate | null | undefined): PriceState['state'] {
  if (rate === undefined) return 'not_asked'
  if (rate === null) return 'missing'
  if (!rate.fallback) return 'ok'
  return rate.source === 'oracle' ? 'last_price' : 'configured'
}

async function read(source: PriceSource, symbols: readonly string[]): Promise<PriceReadings> {
  try {
    return await source()
  } catch (error) {
    const problem = `the price source failed: ${messageOf(error)}`
    return Object.fromEntries(symbols.map((symbol) => [symbol, { problem }]))
  }
}

/** The limits of T-22, for any source. */
function check(
  reading: PriceReading | undefined,
  reference: Decimal | null,
): { problem: string } | { price: Decimal; rate: Rate; lowestUsd: string; publishedAt: number } {
  if (!reading) return { problem: 'the price source does not know the coin' }
  if ('problem' in reading) return reading
  const { usd, lowestUsd, publishedAt } = reading
  const price = positive(usd)
  if (!price || !positive(lowestUsd)) return { problem: `${usd} is not a price` }
  if (reference && isFarFrom(price, reference)) {
    return { problem: `${usd} is more than ${LARGEST_JUMP} times the last good price, or less than its inverse` }
  }
  const rate = { usd, source: 'oracle', as_of: isoSeconds(publishedAt), fallback: false } as const
  return { price, rate, lowestUsd, publishedAt }
}

function isFarFrom(price: Decimal, reference: Decimal): boolean {
  return isMoreThan(LARGEST_JUMP, price, reference) || isMoreThan(LARGEST_JUMP, reference, price)
}

function positive(usd: string): Decimal | null {
  const price = parseDecimal(usd)
  return price && price.digits > 0n ? price : null
}

/** Whether `a` > `factor` × `b`. */
function isMoreThan(factor: bigint, a: Decimal, b: Decimal): boolean {
  return a.digits * 10n ** BigInt(b.scale) > factor * b.digits * 10n ** BigInt(a.scale)
}

function lastRate({ lowestUsd, publishedAt }: GoodPrice): Rate {
  return { usd: lowestUsd, source: 'oracle', as_of: isoSeconds(publishedAt), fallback: true }
}

function configuredRate(usd: string | undefined, last: Decimal | undefined, time: number): Rate | null {
  const price = usd === undefined ? null : positive(usd)
  if (usd === undefined || !price || (last && isFarFrom(price, last))) return null
  return { usd, source: 'fallback', as_of: isoSeconds(Math.floor(time / 1000)), fallback: true }
}

/** False for future times as well, so that nothing is valid for longer after the clock was set back. */
function isWithin(limitMs: number, since: number, time: number): boolean {
  return time >= since && time - since < limitMs
}

/** `fetch` reports "fetch failed" and hides the reason in the cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
