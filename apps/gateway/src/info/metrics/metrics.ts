// `GET /metrics`: this process, its requests, counts from the database, and the costs of publishing.

import { freshInProportion, refreshing } from '@svc/concurrency/caches'
import type { Answered } from '@svc/http-service/service'
import type { Registry } from 'prom-client'
import type { Context } from '../../context.ts'
import type { PublishingCosts } from '../publishing-costs.ts'
import { type AttestationCounts, numberFamilies, readNumbers } from './database.ts'
import { createHttpMetrics } from './http.ts'
import { balanceFamilies, totalFamilies } from './publishing.ts'
import { type Family, metricsText } from './text.ts'

export interface Metrics {
  noteAnswer: (answer: Answered) => void
  text(): Promise<string>
}

/** Prometheus waits ten seconds by default. */
const WAIT_MS = 8_000

type Parts = Context & { publishingCosts: PublishingCosts }

export function createMetrics(context: Parts, countAttestations: () => Promise<AttestationCounts>): Metrics {
  const { publishingCosts, providers, sales, now, log } = context
  const http = createHttpMetrics()
  // Created by the first scrape: observing the event loop and garbage collection costs time.
  let process: Registry | null = null

  const find = () =>
    readNumbers(context, countAttestations).catch((error) => {
      log.warn({ err: error }, 'metrics: the database cannot be read')
      return null
    })
  const numbers = refreshing({ load: find, freshMs: freshInProportion, waitMs: WAIT_MS, now })

  return {
    noteAnswer: http.note,
    async text() {
      const [known, health, totals, balance] = await Promise.all([
        numbers(),
        providers.health(),
        publishingCosts.totals(),
        publishingCosts.balance(),
      ])
      process ??= await observeProcess()
      const families = [
        http.family(),
        ...(known ? numberFamilies(known) : []),
        healthFamily(health),
        readingFamily(sales.readings()),
        ...(totals ? totalFamilies(totals) : []),
        ...balanceFamilies(balance),
      ]
      return `${metricsText(families)}\n${await process.metrics()}`
    },
  }
}

function readingFamily(readings: ReturnType<Context['sales']['readings']>): Family {
  return {
    name: 'svc_payment_readings_total',
    type: 'counter',
    help: 'Readings of payments by this process: known, unavailable, or disputed by nodes that contradict each other.',
    samples: readings.map(({ network, outcome, count }) => ({
      labels: { network: network.name, outcome },
      value: count,
    })),
  }
}

function healthFamily(health: ReadonlyMap<string, boolean>): Family {
  return {
    name: 'svc_provider_up',
    type: 'gauge',
    help: 'Whether a storage provider answers; one that does not is left out of quotes.',
    samples: [...health].map(([provider, isHealthy]) => ({ labels: { provider }, value: Number(isHealthy) })),
  }
}

async function observeProcess(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}
