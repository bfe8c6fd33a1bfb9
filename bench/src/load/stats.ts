// The durations and failures of the requests of each operation.

import type { Observation } from '../mixed/client.ts'

export interface OperationStats {
  operation: string
  count: number
  p50: number
  p95: number
  p99: number
  errors: number
}

interface Recorder {
  observe(observation: Observation): void
  all(): OperationStats
  /** One entry for all requests together, then one for each operation. */
  stats(): OperationStats[]
  /** The last error of each kind, counted. */
  errors(): Record<string, number>
}

export const ALL = 'all'

/** A quote answers 402 with the terms of payment. */
function isGood(status: number | null): boolean {
  return status !== null && (status < 400 || status === 402)
}

export function createRecorder(): Recorder {
  const times = new Map<string, number[]>()
  const failures = new Map<string, number>()
  const kinds: Record<string, number> = {}
  function all(): OperationStats {
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0)
    return statsOf(ALL, [...times.values()].flat(), failed)
  }

  return {
    all,
    observe({ operation, status, code, ms }) {
      const known = times.get(operation) ?? []
      times.set(operation, known)
      known.push(ms)
      if (isGood(status)) return
      failures.set(operation, (failures.get(operation) ?? 0) + 1)
      const kind = status === null ? `${operation}: no answer` : `${operation}: ${status} ${code ?? ''}`
      kinds[kind] = (kinds[kind] ?? 0) + 1
    },
    stats() {
      const rows = [...times].map(([operation, ms]) => statsOf(operation, ms, failures.get(operation) ?? 0))
      return [all(), ...rows.sort((a, b) => b.count - a.count)]
    },
    errors: () => kinds,
  }
}

function statsOf(operation: string, ms: readonly number[], errors: number): OperationStats {
  const sorted = ms.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
  return { operation, count: ms.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), errors }
}
