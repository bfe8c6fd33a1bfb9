import { type RateServer, startRateServer } from '@svc/devnet/rate-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHermesSource, type HermesOptions } from '../../src/prices/hermes.ts'
import { createPriceOracle, type PriceOracleOptions } from '../../src/prices/price-oracle.ts'
import { FEEDS } from './feeds.ts'

const START = Date.parse('2026-09-01T12:00:00Z')
const FALLBACK = { SOL: '140', MON: '0.03', ETH: '3000.5' }

let time: number
let server: RateServer
let problems: string[]

const now = () => time
beforeEach(async () => {
  time = START
  problems = []
  server = await startRateServer({ now })
})
afterEach(() => server.stop())

function hermes(options: Partial<HermesOptions> = {}) {
  return createHermesSource({
    baseUrl: server.url,
    feeds: FEEDS,
    timeoutMs: 60_000,
    maxAgeSeconds: 60,
    maxConfidenceRatio: 0.02,
    now,
    ...options,
  })
}

function startOracle(options: Partial<PriceOracleOptions> = {}) {
  const onProblem = (symbol: string, problem: string, substitute: string) =>
    problems.push(`${symbol}: ${problem} (${substitute})`)
  return createPriceOracle({
    symbols: Object.keys(FEEDS),
    source: hermes(),
    fallback: FALLBACK,
    now,
    onProblem,
    ...options,
  })
}

function fromOracle(usd: string, as_of = '2026-09-01T12:00:00Z') {
  return { usd, source: 'oracle', as_of, fallback: false }
}

/** The last good price, less its confidence of a 2000th. */
function fromLast(usd: string, as_of = '2026-09-01T12:00:00Z') {
  return { usd, source: 'oracle', as_of, fallback: true }
}

function fromFallback(usd: string, as_of = '2026-09-01T12:00:00Z') {
  return { usd, source: 'fallback', as_of, fallback: true }
}

const ALL_FALLBACK = { SOL: fromFallback('140'), MON: fromFallback('0.03'), ETH: fromFallback('3000.5') }

describe('asking', () => {
  it('PAY-24 returns the rate of every coin, and when it was published', async () => {
    server.setPrice('ETH', '3200.5', { ageSeconds: 7 })
    expect(await startOracle().rates()).toEqual({
      SOL: fromOracle('150.25'),
      MON: fromOracle('0.035'),
      ETH: fromOracle('3200.5', '2026-09-01T11:59:53Z'),
    })
    expect(problems).toEqual([])
  })

  it('PAY-28 LIM-10 two quotes within 60 s have equal rates and cost one request', async () => {
    const oracle = startOracle()
    const first = await oracle.rates()
    server.setPrice('SOL', '151')
    time += 59_999
    expect(await oracle.rates()).toEqual(first)
    expect(server.requestCount).toBe(1)
    time += 1
    expect((await oracle.rates()).SOL).toEqual(fromOracle('151', '2026-09-01T12:01:00Z'))
    expect(server.requestCount).toBe(2)
  })

  it('PAY-28 fifty callers at once share one request, at the start and after a minute', async () => {
    const oracle = startOracle()
    for (const requests of [1, 2]) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => oracle.rates()))
      expect(new Set(answers.map(({ SOL }) => SOL?.source))).toEqual(new Set(['oracle']))
      expect(server.requestCount).toBe(requests)
      time += 60_000
    }
  })

  it('PAY-28 a rate does not stay valid for longer when the clock is set back', async () => {
    const oracle = startOracle()
    await oracle.rates()
    time -= 86_400_000
    server.setPrice('SOL', '151')
    expect((await oracle.rates()).SOL?.usd).toBe('151')
  })
})

describe('a source that fails', () => {
  const ways: [string, () => unknown, RegExp][] = [
    ['is down', () => server.stop(), /ECONNREFUSED/],
    ['answers 500', () => server.answerAlways(500, '{}'), /status 500/],
    ['answers with something else', () => server.answerAlways(200, '<html>'), /JSON/],
  ]

  it.each(ways)('PAY-28 a source that %s leads to the configured rates, flagged', async (_, fail, problem) => {
    const oracle = startOracle()
    await fail()
    expect(await oracle.rates()).toEqual(ALL_FALLBACK)
    expect(problems).toHaveLength(3)
    expect(problems[0]).toMatch(problem)
  })

  it('PAY-28 is queried again after 5 s, not by every quote, and no quote waits for it', async () => {
    const oracle = startOracle()
    server.answerAlways(500, '')
    await oracle.rates()
    time += 4_999
    expect(await oracle.rates()).toEqual(ALL_FALLBACK)
    expect(server.requestCount).toBe(1)
    server.hang()
    time += 1
    for (let i = 0; i < 3; i++) expect(await oracle.rates()).toEqual(ALL_FALLBACK)
    await expect.poll(() => server.requestCount).toBe(2)
  })

  it('PAY-28 after a quiet minute the first quote waits for the current rate', async () => {
    const oracle = startOracle()
    server.answerAlways(500, '')
    await oracle.rates()
    server.recover()
    time += 60_000
    expect((await oracle.rates()).SOL?.source).toBe('oracle')
  })

  it('PAY-28 T-22 falls back to the conservative bound of the last price for an hour, then to the configured rate', async () => {
    const oracle = startOracle()
    await oracle.rates()
    server.answerAlways(500, '')
    time += 59_999
    expect((await oracle.rates()).SOL).toEqual(fromOracle('150.25'))
    time += 1
    expect((await oracle.rates()).SOL).toEqual(fromLast('150.174875'))
    expect(problems[0]).toBe('SOL: the price source failed: status 500 (last price)')
    time = START + 3_599_999
    expect((await oracle.rates()).SOL).toEqual(fromLast('150.174875'))
    time += 1
    expect((await oracle.rates()).SOL).toEqual(fromFallback('140', '2026-09-01T13:00:00Z'))
    expect(problems.at(-3)).toMatch(/^SOL: .*\(configured rate\)$/)
  })

  it('T-22 without a configured rate, a coin has a price for an hour after its publication', async () => {
    server.setPrice('SOL', '150', { ageSeconds: 60, confidence: '3' })
    const oracle = startOracle({ fallback: {} })
    await oracle.rates()
    expect(oracle.missing()).toEqual([])
    server.answerAlways(500, '')
    time = START + 3_539_999
    expect((await oracle.rates()).SOL).toEqual(fromLast('147', '2026-09-01T11:59:00Z'))
    time += 1
    expect(await oracle.rates()).toMatchObject({ SOL: null, ETH: { fallback: true } })
    expect(oracle.missing()).toEqual(['SOL'])
    expect(problems.at(-1)).toMatch(/^SOL: .*\(none\)$/)
    time = START + 3_600_000
    expect(await oracle.rates()).toEqual({ SOL: null, MON: null, ETH: null })
    server.recover()
    time += 60_000
    expect((await oracle.rates()).SOL?.fallback).toBe(false)
    expect(oracle.missing()).toEqual([])
  })

  it.each([
    ['1502.51', null],
    ['1502.5', '1502.5'],
    ['15.024', null],
    ['15.025', '15.025'],
  ])('T-22 a configured rate of %s replaces 150.25 as: %s', async (usd, expected) => {
    const oracle = startOracle({ fallback: { SOL: usd } })
    await oracle.rates()
    server.answerAlways(500, '')
    time += 3_600_000
    expect((await oracle.rates()).SOL?.usd ?? null).toBe(expected)
  })
})

describe('a price out of bounds', () => {
  const ways: [string, () => void, RegExp][] = [
    ['of zero', () => server.setPrice('SOL', '0'), /not positive/],
    ['below zero', () => server.setPrice('SOL', '-150'), /not positive/],
    ['from over a minute ago', () => server.setPrice('SOL', '150', { ageSeconds: 61 }), /61 s old/],
    ['from the future', () => server.setPrice('SOL', '150', { ageSeconds: -61 }), /-61 s old/],
    [
      'with a wide confidence interval',
      () => server.setPrice('SOL', '150', { confidence: '3.01' }),
      /an uncertainty of 0.020/,
    ],
    ['of an unknown feed', () => server.removePrice('SOL'), /no valid price/],
  ]

  it.each(ways)(
    'T-22 a price %s is replaced by the configured rate, and the other coins keep their prices',
    async (_, set, problem) => {
      set()
      const rates = await startOracle().rates()
      expect(rates).toEqual({ SOL: fromFallback('140'), MON: fromOracle('0.035'), ETH: fromOracle('3500') })
      expect(problems).toHaveLength(1)
      expect(problems[0]).toMatch(problem)
    },
  )

  it('T-22 a price exactly at its bounds is accepted', async () => {
    server.setPrice('SOL', '150', { ageSeconds: 60, confidence: '3' })
    expect((await startOracle().rates()).SOL?.source).toBe('oracle')
  })

  it.each([
    ['1502.51', '150.174875'],
    ['1502.5', '1502.5'],
    ['15.024', '150.174875'],
    ['15.025', '15.025'],
  ])('T-22 after 150.25, a new price of %s gives the rate %s', async (usd, expected) => {
    const oracle = startOracle()
    await oracle.rates()
    server.setPrice('SOL', usd)
    time += 60_000
    const { SOL, ETH } = await oracle.rates()
    expect(SOL?.usd).toBe(expected)
    expect(ETH).toMatchObject({ usd: '3500', fallback: false })
  })

  it('T-22 the next price is not compared with an outlier, and an outlier is rejected for an hour only', async () => {
    const oracle = startOracle()
    const isTaken = async (usd: string) => {
      server.setPrice('SOL', usd)
      time += 60_000
      return (await oracle.rates()).SOL?.usd === usd
    }
    await oracle.rates()
    expect(await isTaken('9000')).toBe(false)
    expect(await isTaken('9000')).toBe(false)
    expect(await isTaken('149')).toBe(true)
    time += 3_600_000
    expect(await isTaken('9000')).toBe(true)
  })

  it.each(['NaN', '', '-1', '1e5', '0.000', 'Infinity'])('T-22 "%s" is not a price from any source', async (usd) => {
    for (const [price, lowest] of [
      [usd, '1'],
      ['1', usd],
    ] as const) {
      const source = async () => ({ SOL: { usd: price, lowestUsd: lowest, publishedAt: START / 1000 } })
      expect((await startOracle({ source }).rates()).SOL).toEqual(fromFallback('140'))
    }
  })

  it('PAY-28 while one coin is retried, the others keep their rate until its minute ends', async () => {
    server.setPrice('MON', '0')
    const oracle = startOracle()
    await oracle.rates()
    server.setPrice('MON', '0.04')
    server.setPrice('SOL', '151')
    time += 5_000
    await expect.poll(async () => (await oracle.rates()).MON?.usd).toBe('0.04')
    expect((await oracle.rates()).SOL?.usd).toBe('150.25')
  })

  it('PAY-28 a coin without price and fallback has no rate', async () => {
    server.removePrice('MON')
    const rates = await startOracle({ fallback: { SOL: '140' } }).rates()
    expect(rates).toEqual({ SOL: fromOracle('150.25'), MON: null, ETH: fromOracle('3500') })
  })

  it('T-22 a configured rate must be a price as well', () => {
    for (const usd of ['0', '-1', 'x', '']) expect(() => startOracle({ fallback: { SOL: usd } })).toThrow(RangeError)
  })
})
