// USD rates of the coins: asked for once a minute, and kept within bounds. In doubt, the last good price stands in for an
// hour, then the configured rate; a coin that has neither has no rate.

import { isoSeconds } from '@svc/protocol/evidence'
import { type Decimal, parseDecimal } from '../amounts.ts'

/** One coin's price as a source tells it, with the lower end of its confidence interval, or why it tells none. */
export type PriceReading = { usd: string; lowestUsd: string; publishedAt: number } | { problem: string }
type PriceReadings = Readonly<Record<string, PriceReading>>

/** Asks for all prices at once. A coin may be missing; when the promise is rejected, all are. */
export type PriceSource = () => Promise<PriceReadings>

/** `oracle_rate` of a quote's leg. `fallback` marks what stands in for a new price: an older one, or a configured rate. */
export interface Rate {
  usd: string
  source: 'oracle' | 'fallback'
  as_of: string
  fallback: boolean
}

/** What stands in for a price that cannot be used. */
type StandIn = 'last price' | 'configured rate' | 'none'

/** By symbol; null where there is no price to sell at: such a leg cannot be offered. */
export type Rates = Readonly<Record<string, Rate | null>>

export interface PriceOracleOptions {
  /** The coins whose prices are needed. */
  symbols: readonly string[]
  source: PriceSource
  fallback: Readonly<Record<string, string>>
  /** Unix milliseconds. */
  now: () => number
  cacheMs?: number
  /** Told of each price that could not be used, and of what is used instead. */
  onProblem?: (symbol: string, problem: string, standIn: StandIn) => void
}

export interface PriceOracle {
  /** The same object until a rate is looked up again. */
  rates(): Promise<Rates>
  /** The coins that had no rate when they were last asked for. */
  missing(): string[]
  /** What each coin is sold at, without asking the source. */
  states(): PriceState[]
}

/** `last_price` and `configured` stand in for a price that the source does not tell. */
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
  /** When it must not be used any more, even if nothing newer is known. */
  until: number
}

interface GoodPrice {
  price: Decimal
  /** What the last price is worth at least. */
  lowestUsd: string
  publishedAt: number
  /** When it was published, but never in the future. */
  at: number
}

const CACHE_MS = 60_000
const RETRY_MS = 5_000
const LARGEST_JUMP = 10n
/**
 * For so long the last good price stands in, and new prices are held against it. Without an end, a true move beyond the
 * bound would never count.
 */
const GOOD_MS = 3_600_000

/**
 * A rate is good for its 60 s (PAY-28). Then, if there is no new one, the lower end of the last good price's confidence
 * interval stands in: the buyer pays no less than the price that was known asked for (T-22). A configured rate stands in
 * after that, unless it is as far from the last good price as no new price may be.
 */
export function createPriceOracle(options: PriceOracleOptions): PriceOracle {
  const { symbols, source, fallback, now, cacheMs = CACHE_MS, onProblem } = options
  const entries = new Map<string, Entry>()
  let current: Rates = {}
  const lastGood = new Map<string, GoodPrice>()
  let request: Promise<void> | null = null
  for (const usd of Object.values(fallback)) if (!positive(usd)) throw new RangeError(`${usd} is no fallback price`)

  async function refresh(): Promise<void> {
    const readings = await read(source, symbols)
    const time = now()
    for (const symbol of symbols) {
      // While one coin is retried, the others keep the rate of their minute.
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
        // A source that failed a moment ago is retried behind the caller's back: if it hangs, quotes do not.
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

/** The bounds of T-22, whatever the source is. */
function check(
  reading: PriceReading | undefined,
  reference: Decimal | null,
): { problem: string } | { price: Decimal; rate: Rate; lowestUsd: string; publishedAt: number } {
  if (!reading) return { problem: 'the price source does not know it' }
  if ('problem' in reading) return reading
  const { usd, lowestUsd, publishedAt } = reading
  const price = positive(usd)
  if (!price || !positive(lowestUsd)) return { problem: `${usd} is no price` }
  if (reference && isFarFrom(price, reference)) {
    return { problem: `${usd} is more than ${LARGEST_JUMP} times away from the last good price` }
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

/** False for times to come as well: after the clock was set back, nothing stays for longer than it should. */
function isWithin(limitMs: number, since: number, time: number): boolean {
  return time >= since && time - since < limitMs
}

/** `fetch` says "fetch failed" and hides the reason in the cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}
