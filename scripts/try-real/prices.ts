// One reading of the price server, judged as the gateway judges it, and compared with FALLBACK_USD.

import { ASSETS, pricesOf } from '@svc/api/assets'
import { createHermesSource } from '@svc/payments/prices/hermes'
import { ORACLE_LIMITS } from '@svc/payments/selling/sales'
import { readSalesConfig } from '@svc/payments/selling/settings'
import { requireThat, type Trial } from './trial.ts'

/** How far a price may be from the configured rate: what the gateway accepts within an hour. */
const LARGEST_FACTOR = 10

export const tryPrices: Trial = async (settings) => {
  const [{ oracle }, { oracleApiKey }] = readSalesConfig(settings, false)
  settings.done()
  const source = createHermesSource({
    ...ORACLE_LIMITS,
    baseUrl: oracle.url,
    feeds: oracle.feeds,
    maxAgeSeconds: oracle.maxAgeSeconds,
    now: Date.now,
    ...(oracleApiKey && { apiKey: oracleApiKey }),
  })
  return {
    about: [`price server ${oracle.url}, ${oracleApiKey ? 'with' : 'without'} ORACLE_API_KEY`],
    costs: null,
    async run(passed) {
      const readings = await source()
      for (const { symbol } of pricesOf(ASSETS)) {
        const reading = readings[symbol] ?? { problem: 'the server does not know it' }
        requireThat(!('problem' in reading), `${symbol}: ${'problem' in reading ? reading.problem : ''}`)
        const { usd, lowestUsd, publishedAt } = reading
        const { [symbol]: rate } = oracle.fallback
        const factor = rate === undefined ? 1 : Number(usd) / Number(rate)
        requireThat(
          factor <= LARGEST_FACTOR && factor >= 1 / LARGEST_FACTOR,
          `${symbol}: ${usd} USD is more than ${LARGEST_FACTOR} times FALLBACK_USD (${rate}), or less than its inverse`,
        )
        const age = Math.floor(Date.now() / 1000) - publishedAt
        const compared = rate === undefined ? 'not compared: FALLBACK_USD has no rate' : `FALLBACK_USD says ${rate}`
        passed(`${symbol} costs ${usd} USD, at least ${lowestUsd}, ${age} s ago (${compared})`)
      }
    },
  }
}
