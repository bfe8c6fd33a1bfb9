// Durations of requests. prom-client's histogram would slow down small requests by over three percent.

import type { Answered } from '@svc/service/http/send'
import type { Family, Sample } from './text.ts'

const BOUNDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120]
const LAST_BOUND = BOUNDS.at(-1) as number
const NO_ROUTE = 'none'

interface Tally {
  labels: { route: string; method: string; status: string }
  /** Requests per bucket, not cumulative; the last bucket is for requests beyond all bounds. */
  counts: number[]
  seconds: number
}

interface HttpMetrics {
  count(answer: Answered): void
  family(): Family
  times(): RouteTimes[]
}

/** All responses of one route and method. Plain data, because processes send it to each other. */
export interface RouteTimes {
  route: string
  method: string
  requests: number
  serverErrors: number
  seconds: number
  /** Requests per bucket, not cumulative. */
  counts: number[]
}

export function mergeTimes(processes: readonly (readonly RouteTimes[])[]): RouteTimes[] {
  const merged = new Map<string, RouteTimes>()
  for (const times of processes.flat()) {
    const key = `${times.method} ${times.route}`
    const before = merged.get(key)
    merged.set(key, before ? sumOf(before, times) : times)
  }
  return [...merged.values()]
}

function sumOf(a: RouteTimes, b: RouteTimes): RouteTimes {
  return {
    ...a,
    requests: a.requests + b.requests,
    serverErrors: a.serverErrors + b.serverErrors,
    seconds: a.seconds + b.seconds,
    counts: a.counts.map((count, i) => count + (b.counts[i] ?? 0)),
  }
}

/** The upper bound, in seconds, of the bucket with this percentile; the last bound if the percentile is beyond it. */
export function percentile({ counts, requests }: RouteTimes, share: number): number {
  let counted = 0
  for (const [i, count] of counts.entries()) {
    counted += count
    if (counted >= share * requests) return BOUNDS[i] ?? LAST_BOUND
  }
  return LAST_BOUND
}

export function createHttpMetrics(): HttpMetrics {
  // By route, method and class of status. Callers cannot add entries: routes are declared, and Node's parser accepts
  // known methods only.
  const tallies = new Map<string, Map<string, Map<number, Tally>>>()

  function tallyOf(route: string, method: string, statusClass: number): Tally {
    const ofRoute = existing(tallies, route, () => new Map<string, Map<number, Tally>>())
    const ofMethod = existing(ofRoute, method, () => new Map<number, Tally>())
    return existing(ofMethod, statusClass, () => newTally(route, method, statusClass))
  }

  function allTallies(): Tally[] {
    return [...tallies.values()].flatMap((ofRoute) =>
      [...ofRoute.values()].flatMap((ofMethod) => [...ofMethod.values()]),
    )
  }

  return {
    count({ route, method, status, seconds }) {
      const tally = tallyOf(route ?? NO_ROUTE, method, Math.floor(status / 100))
      let i = 0
      while (seconds > (BOUNDS[i] ?? Number.POSITIVE_INFINITY)) i++
      tally.counts[i] = (tally.counts[i] ?? 0) + 1
      tally.seconds += seconds
    },

    times: () =>
      mergeTimes(
        allTallies().map(({ labels: { route, method, status }, counts, seconds }) => {
          const requests = counts.reduce((sum, count) => sum + count, 0)
          return [{ route, method, requests, serverErrors: status === '5xx' ? requests : 0, seconds, counts }]
        }),
      ),

    family: () => ({
      name: 'svc_http_request_duration_seconds',
      type: 'histogram',
      help: 'Requests by declared route, method and class of status, and how long they took.',
      samples: allTallies().flatMap(samplesOf),
    }),
  }
}

function existing<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

function newTally(route: string, method: string, statusClass: number): Tally {
  return {
    labels: { route, method, status: `${statusClass}xx` },
    counts: new Array(BOUNDS.length + 1).fill(0),
    seconds: 0,
  }
}

function samplesOf({ labels, counts, seconds }: Tally): Sample[] {
  let total = 0
  const buckets = counts.map((count, i): Sample => {
    total += count
    return { part: '_bucket', labels: { ...labels, le: String(BOUNDS[i] ?? '+Inf') }, value: total }
  })
  return [...buckets, { part: '_sum', labels, value: seconds }, { part: '_count', labels, value: total }]
}
