// A job carries the trace of the request that caused it as a field of its payload, and continues it wherever it runs.
// Jobs that a schedule adds carry none and are not traced.

import type { Effect, JobRun } from './queue.ts'

export interface JobTraces {
  /** The trace of the running code; null when it has none. */
  active(): string | null
  /** Runs a job as part of the trace that it carries. */
  run(job: { kind: string; run: JobRun; traceparent: string }, work: () => Promise<Effect>): Promise<Effect>
}

const FIELD = 'traceparent'

/** The stored text of a payload. */
export function payloadText(payload: unknown, traceparent: string | null): string {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload)
  return JSON.stringify(traceparent !== null && isObject ? { ...payload, [FIELD]: traceparent } : payload)
}

export function readPayload(text: string): { payload: unknown; traceparent: string | null } {
  const stored: unknown = JSON.parse(text)
  if (typeof stored !== 'object' || stored === null || !(FIELD in stored)) return { payload: stored, traceparent: null }
  const { [FIELD]: traceparent, ...payload } = stored
  return { payload, traceparent: String(traceparent) }
}
