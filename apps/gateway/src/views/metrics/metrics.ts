// `GET /metrics`: the processes of this gateway and their requests, counts from the database, and publishing costs.

import { freshInProportion, refreshing } from '@svc/concurrency/caches'
import type { Answered } from '@svc/service/http/send'
import type { Registry } from 'prom-client'
import type { Context } from '../../context.ts'
import type { ContinuityStatus } from '../../continuity/continuity.ts'
import { missingByName } from '../../continuity/missing.ts'
import { priceFamilies } from '../price-feed.ts'
import { numberFamilies, readNumbers } from './database.ts'
import { createHttpMetrics, mergeTimes, type RouteTimes } from './http.ts'
import { balanceFamilies, totalFamilies } from './publishing.ts'
import { byLabel, byProcess, type Family, metricsText } from './text.ts'

export interface Metrics {
  countAnswer: (answer: Answered) => void
  /** Counts a request that was refused because of overload. */
  countShed: () => void
  /** How long requests to each route took, in all processes since they started. */
  routeTimes(): Promise<RouteTimes[]>
  text(): Promise<string>
}

/** Prometheus waits ten seconds by default. */
const WAIT_MS = 8_000

export function createMetrics(context: Context): Metrics {
  const { providers, sales, now, log } = context
  const { isOneOfSeveral, fromAll } = context.process
  const http = createHttpMetrics()
  let shed = 0
  // Created by the first scrape: observing the event loop and garbage collection costs time.
  let process: Registry | null = null

  const find = () =>
    readNumbers(context).catch((error) => {
      log.warn({ err: error }, 'metrics: the database cannot be read')
      return null
    })
  const numbers = refreshing({ load: find, freshMs: freshInProportion, waitMs: WAIT_MS, now })

  // Each process answers one question of the others.
  const ofProcesses = fromAll(async () => {
    process ??= await observeProcess()
    const families = [
      http.family(),
      shedFamily(shed),
      readingFamily(sales.readings()),
      ...(await processFamilies(process)),
    ]
    return { families, times: http.times() }
  })

  return {
    countAnswer: http.count,
    countShed: () => {
      shed++
    },
    async routeTimes() {
      return mergeTimes((await ofProcesses()).map(([, { times }]) => times))
    },
    async text() {
      const [processes, known, health, totals, balance, prices] = await Promise.all([
        ofProcesses(),
        numbers(),
        providers.health(),
        context.publishingCosts.totals(),
        context.publishingCosts.balance(),
        sales.prices(),
      ])
      const ofEach = processes.map(([index, { families }]): [number, Family[]] => [index, families])
      const families = [
        ...(isOneOfSeveral ? byProcess(ofEach) : ofEach.flatMap(([, own]) => own)),
        ...(known ? numberFamilies(known) : []),
        healthFamily(health),
        ...continuityFamilies(context.continuity.status()),
        ...(totals ? totalFamilies(totals) : []),
        ...balanceFamilies(balance),
        ...priceFamilies(prices, Math.floor(now() / 1000)),
      ]
      return metricsText(families)
    },
  }
}

function shedFamily(count: number): Family {
  return {
    name: 'svc_http_requests_shed_total',
    type: 'counter',
    help: 'Requests that this process refused because it was overloaded.',
    samples: [{ value: count }],
  }
}

function readingFamily(readings: ReturnType<Context['sales']['readings']>): Family {
  return {
    name: 'svc_payment_readings_total',
    type: 'counter',
    help: 'Readings of payments by this process: known, unavailable, or disputed if nodes contradict each other.',
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
    help: 'Whether a storage provider answers. Quotes leave out a provider that does not.',
    samples: [...health].map(([provider, isHealthy]) => ({ labels: { provider }, value: Number(isHealthy) })),
  }
}

function continuityFamilies({ state, logbook, missing, clock }: ContinuityStatus): Family[] {
  return [
    {
      name: 'svc_database_behind',
      type: 'gauge',
      help: 'Whether the database lacks something that this gateway has signed or accepted: then it only reads.',
      samples: [{ value: state === 'behind' ? 1 : 0 }],
    },
    {
      name: 'svc_database_missing',
      type: 'gauge',
      help: 'Number of documents that the database lacks.',
      samples: byLabel('what', missingByName(missing)),
    },
    {
      name: 'svc_logbook_up',
      type: 'gauge',
      help: 'Whether the journal can be written; 0 also without a journal.',
      samples: [{ value: logbook === 'ok' ? 1 : 0 }],
    },
    {
      name: 'svc_clock_ahead_seconds',
      type: 'gauge',
      help: "How far the clock of this process is ahead of the database's; negative if it is behind.",
      samples: clock.aheadSeconds === null ? [] : [{ value: clock.aheadSeconds }],
    },
    {
      name: 'svc_clock_wrong',
      type: 'gauge',
      help: 'Whether the clocks of this process and the database differ by more than CLOCK_TOLERANCE_SECONDS: then this process neither sells nor signs.',
      samples: [{ value: Number(clock.isWrong) }],
    },
  ]
}

async function observeProcess(): Promise<Registry> {
  const { collectDefaultMetrics, Registry } = await import('prom-client')
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}

interface ObservedMetric {
  name: string
  help: string
  type: Family['type']
  values: { value: number; labels: Record<string, string | number>; metricName?: string }[]
}

/** The metrics of prom-client as families, which another process can read. */
async function processFamilies(register: Registry): Promise<Family[]> {
  const metrics = (await register.getMetricsAsJSON()) as unknown as ObservedMetric[] // its types do not match what it returns
  return metrics.map(({ name, help, type, values }) => ({
    name,
    help,
    type,
    samples: values.map(({ value, labels, metricName = name }) => ({
      value,
      labels: Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)])),
      part: metricName.slice(name.length),
    })),
  }))
}
