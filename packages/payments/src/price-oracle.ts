// USD rates of the coins: asked for once a minute, kept within bounds, and replaced by configured values when in doubt.

import { isoSeconds } from '@svc/protocol/evidence'
import { type Decimal, parseDecimal } from './amounts.ts'
import { ORACLE_SYMBOLS, type OracleSymbol } from './assets.ts'

/** One coin's price as a source tells it, or why it tells none. */
export type PriceReading = { usd: string; publishedAt: number } | { problem: string }
type PriceReadings = Readonly<Partial<Record<OracleSymbol, PriceReading>>>

/** Asks for all prices at once. A coin may be missing; when the promise is rejected, all are. */
export type PriceSource = () => Promise<PriceReadings>

/** `oracle_rate` of a quote's leg. */
export interface Rate {
  usd: string
  source: 'oracle' | 'fallback'
  as_of: string
  fallback: boolean
}

/** Null where neither the source nor the configuration has a price: such a leg cannot be offered. */
export type Rates = Record<OracleSymbol, Rate | null>

export interface PriceOracleOptions {
  source: PriceSource
  fallback: Readonly<Partial<Record<OracleSymbol, string>>>
  /** Unix milliseconds. */
  now: () => number
  cacheMs?: number
  /** Told of each price that could not be used. */
  onProblem?: (symbol: OracleSymbol, problem: string) => void
}

export interface PriceOracle {
  rates(): Promise<Rates>
}

interface Entry {
  rate: Rate | null
  at: number
  isGood: boolean
}

const CACHE_MS = 60_000
const RETRY_MS = 5_000
const LARGEST_JUMP = 10n
/** For so long a price is held against the last good one; without an end, a true move beyond the bound would never count. */
const JUMP_MEMORY_MS = 3_600_000

/**
 * A rate is good for its 60 s; then, if there is no new one, the configured value stands in at once (PAY-28). The last
 * good rate gets no grace: one marked as the oracle's would be older than the cache allows, and hide the failure.
 */
export function createPriceOracle(options: PriceOracleOptions): PriceOracle {
  const { source, fallback, now, cacheMs = CACHE_MS, onProblem } = options
  const entries = new Map<OracleSymbol, Entry>()
  const lastGood = new Map<OracleSymbol, { price: Decimal; at: number }>()
  let request: Promise<void> | null = null
  for (const usd of Object.values(fallback)) if (!positive(usd)) throw new RangeError(`${usd} is no fallback price`)

  async function refresh(): Promise<void> {
    const readings = await read(source)
    const time = now()
    for (const symbol of ORACLE_SYMBOLS) {
      // While one coin is retried, the others keep the rate of their minute.
      if (isDue(entries.get(symbol), time)) entries.set(symbol, judge(symbol, readings[symbol], time))
    }
  }

  function judge(symbol: OracleSymbol, reading: PriceReading | undefined, at: number): Entry {
    const checked = check(reading, recentGood(symbol, at))
    if ('problem' in checked) {
      onProblem?.(symbol, checked.problem)
      return { rate: fallbackRate(fallback[symbol], at), at, isGood: false }
    }
    lastGood.set(symbol, { price: checked.price, at })
    return { rate: checked.rate, at, isGood: true }
  }

  function recentGood(symbol: OracleSymbol, time: number): Decimal | null {
    const good = lastGood.get(symbol)
    return good && isWithin(JUMP_MEMORY_MS, good.at, time) ? good.price : null
  }

  function isDue(entry: Entry | undefined, time: number): boolean {
    return !entry || !isWithin(entry.isGood ? cacheMs : RETRY_MS, entry.at, time)
  }

  function isUsable(entry: Entry | undefined, time: number): boolean {
    return entry !== undefined && isWithin(cacheMs, entry.at, time)
  }

  return {
    async rates() {
      const time = now()
      const known = ORACLE_SYMBOLS.map((symbol) => entries.get(symbol))
      if (known.some((entry) => isDue(entry, time))) {
        request ??= refresh().finally(() => {
          request = null
        })
        // A source that failed a moment ago is retried behind the caller's back: if it hangs, quotes do not.
        if (!known.every((entry) => isUsable(entry, time))) await request
      }
      const rate = (symbol: OracleSymbol) => entries.get(symbol)?.rate ?? null
      return { SOL: rate('SOL'), MON: rate('MON'), ETH: rate('ETH') }
    },
  }
}

async function read(source: PriceSource): Promise<PriceReadings> {
  try {
    return await source()
  } catch (error) {
    const problem = `the price source failed: ${messageOf(error)}`
    return { SOL: { problem }, MON: { problem }, ETH: { problem } }
  }
}

/** The bounds of T-22, whatever the source is. */
function check(
  reading: PriceReading | undefined,
  reference: Decimal | null,
): { problem: string } | { price: Decimal; rate: Rate } {
  if (!reading) return { problem: 'the price source does not know it' }
  if ('problem' in reading) return reading
  const { usd, publishedAt } = reading
  const price = positive(usd)
  if (!price) return { problem: `${usd} is no price` }
  if (reference && (isMoreThan(LARGEST_JUMP, price, reference) || isMoreThan(LARGEST_JUMP, reference, price))) {
    return { problem: `${usd} is more than ${LARGEST_JUMP} times away from the last good price` }
  }
  return { price, rate: { usd, source: 'oracle', as_of: isoSeconds(publishedAt), fallback: false } }
}

function positive(usd: string): Decimal | null {
  const price = parseDecimal(usd)
  return price && price.digits > 0n ? price : null
}

/** Whether `a` > `factor` × `b`. */
function isMoreThan(factor: bigint, a: Decimal, b: Decimal): boolean {
  return a.digits * 10n ** BigInt(b.scale) > factor * b.digits * 10n ** BigInt(a.scale)
}

function fallbackRate(usd: string | undefined, time: number): Rate | null {
  if (usd === undefined) return null
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
