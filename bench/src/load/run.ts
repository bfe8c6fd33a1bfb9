// The phases of a load run in order.

import { setTimeout } from 'node:timers/promises'
import type { Engine } from '../faults/testbed.ts'
import { shop } from '../mixed/buyer.ts'
import type { LockerEntry } from '../mixed/ledger.ts'
import { PRIMARY_PAYERS } from '../mixed/purchase.ts'
import { measureNeighbours, type Neighbour } from './neighbours.ts'
import { type Overload, overload } from './overload.ts'
import { createPace, type Pace, paced } from './pace.ts'
import { type LoadDependencies, startLoadDependencies } from './setup.ts'
import { ALL, createRecorder, type OperationStats } from './stats.ts'
import { type UsageReport, watchUsage } from './usage.ts'

export interface LoadOptions {
  engine: Engine
  minutes: number
  /** Requests per second; null to find the knee. */
  rate: number | null
}

export interface LoadResult {
  options: LoadOptions
  /** Requests per second that were held. */
  rate: number
  /** Requests per second that were answered. */
  answeredPerSecond: number
  operations: OperationStats[]
  errors: Record<string, number>
  usage: UsageReport | null
  overload: Overload
  neighbours: Neighbour[]
  /** The problems that the run found. */
  problems: string[]
}

const SEED = 1
const BUYERS = 96
const FIRST_RATE = 25
const STEP = 1.3
const STEP_SECONDS = 10
/** A gateway that keeps up is never this late. */
const LATE_MS = 500
/** How many times slower than at best the slowest twentieth of quick requests may be. */
const SLOWER = 4
const QUICK = ['price', 'public read', 'list files', 'evidence']
/** The share of the rate at which the harm of slow parts is measured. */
const MODERATE = 0.4

export async function runLoad(
  options: LoadOptions,
  say: (line: string) => void,
  stop: AbortSignal,
): Promise<LoadResult> {
  say(`starting a gateway on ${options.engine}…`)
  const testbed = await startLoadDependencies(options.engine, SEED)
  const stopped = Promise.withResolvers<never>()
  stop.addEventListener('abort', () => stopped.reject(new Error('stopped')))
  if (stop.aborted) stopped.reject(new Error('stopped'))
  try {
    return await Promise.race([runIn(testbed, options, say), stopped.promise])
  } finally {
    await testbed.stop()
  }
}

async function runIn(
  testbed: LoadDependencies,
  options: LoadOptions,
  say: (line: string) => void,
): Promise<LoadResult> {
  const pace = createPace(FIRST_RATE)
  const shopping = new AbortController()
  const buyers = startBuyers(testbed, pace, shopping.signal)
  const rate = options.rate ?? (await findKnee(testbed, pace, say))
  pace.setRate(rate)
  const seconds = options.minutes * 60
  say(`holding ${rate.toFixed(0)} requests per second for ${options.minutes} minutes…`)
  await setTimeout(2_000)
  const recorder = createRecorder()
  testbed.observeBy(recorder.observe)
  const watch = watchUsage(testbed.gateway.pid())
  await setTimeout(seconds * 1000)
  const usage = watch.stop()
  const operations = recorder.stats()
  const errors = recorder.errors()
  shopping.abort()
  testbed.observeBy(() => {})
  pace.setRate(rate)
  await buyers
  say('overloading the gateway…')
  const overloaded = await overload(testbed, say)
  say('making clients and dependencies slow…')
  const neighbours = await measureNeighbours(testbed, rate * MODERATE, say)
  const result = {
    options,
    rate,
    answeredPerSecond: recorder.all().count / seconds,
    operations,
    errors,
    usage,
    overload: overloaded,
    neighbours,
  }
  return { ...result, problems: problemsOf(result) }
}

function startBuyers({ client, shopper, lockers }: LoadDependencies, pace: Pace, stop: AbortSignal): Promise<unknown> {
  const own = paced(client, pace)
  const all = [...lockers.gcs, ...lockers.storj]
  return Promise.all(
    Array.from({ length: BUYERS }, (_, i) => {
      const first = all[i % all.length] as LockerEntry
      return shop(shopper(SEED + i, own), PRIMARY_PAYERS[i % PRIMARY_PAYERS.length]!, { buys: 0.02, first }, stop)
    }),
  )
}

/** The highest rate at which requests are neither late nor much slower than at best. */
async function findKnee(testbed: LoadDependencies, pace: Pace, say: (line: string) => void): Promise<number> {
  let knee = FIRST_RATE
  let best = Number.POSITIVE_INFINITY
  for (let rate = FIRST_RATE; ; rate *= STEP) {
    pace.setRate(rate)
    await setTimeout(2_000)
    const all = createRecorder()
    const quick = createRecorder()
    testbed.observeBy((seen) => {
      all.observe(seen)
      if (QUICK.includes(seen.operation)) quick.observe(seen)
    })
    await setTimeout(STEP_SECONDS * 1000)
    // In so short a time the slowest hundredth is a handful of requests, whose times are random.
    const { p95 } = quick.all()
    const late = pace.lateMs()
    best = Math.min(best, p95)
    const isKept = late < LATE_MS && p95 <= SLOWER * Math.max(best, 10) && all.all().errors === 0
    const failed = Object.entries(all.errors()).map(([error, count]) => `, ${count} × ${error}`)
    say(
      `  ${rate.toFixed(0)}/s: p95 of quick requests ${p95.toFixed(0)} ms, ${late.toFixed(0)} ms late${failed.join('')}${isKept ? '' : ': too much'}`,
    )
    if (!isKept) return knee
    knee = rate
  }
}

export function problemsOf({ operations, usage, overload, neighbours }: Omit<LoadResult, 'problems'>): string[] {
  const all = operations.find(({ operation }) => operation === ALL)
  const grown = usage && usage.mebibytes.end - usage.mebibytes.middle
  return [
    ...(all && all.errors > 0 ? [`${all.errors} requests failed while the load was held`] : []),
    ...(usage && grown !== null && grown > 0.15 * usage.mebibytes.middle ? ['memory grows'] : []),
    ...(usage && usage.descriptors.end > usage.descriptors.middle * 1.3 + 20 ? ['descriptors grow'] : []),
    ...(overload.shed === 0 ? ['nothing was refused under overload'] : []),
    ...(overload.otherErrors > 0 ? [`${overload.otherErrors} other errors under overload`] : []),
    ...(overload.refusedP99 > 50 ? [`refusals took ${overload.refusedP99.toFixed(0)} ms`] : []),
    ...neighbours.filter(({ isHarmful }) => isHarmful).map(({ name }) => `a ${name} slows other requests down`),
  ]
}
