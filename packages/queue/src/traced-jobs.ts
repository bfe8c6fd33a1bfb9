// A job carries the trace of the request that caused it, as one more field of its payload, and goes on with it wherever
// it runs. Jobs that a schedule adds have none and are not traced.

import { activeTraceparent, inActiveSpan } from '@svc/tracing/active-span'
import type { Tracer } from '@svc/tracing/tracer'
import type { Effect, JobRun } from './queue.ts'

const FIELD = 'traceparent'

/** What is stored of a payload. */
export function payloadText(payload: unknown): string {
  const traceparent = activeTraceparent()
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload)
  return JSON.stringify(traceparent !== null && isObject ? { ...payload, [FIELD]: traceparent } : payload)
}

export function readPayload(text: string): { payload: unknown; traceparent: string | null } {
  const stored: unknown = JSON.parse(text)
  if (typeof stored !== 'object' || stored === null || !(FIELD in stored)) return { payload: stored, traceparent: null }
  const { [FIELD]: traceparent, ...payload } = stored
  return { payload, traceparent: String(traceparent) }
}

/** What the job writes in the end, and the jobs that it adds then, belong to its span, too. */
export async function runTraced(
  tracer: Tracer | null,
  kind: string,
  text: string,
  { attempt }: JobRun,
  handle: (payload: unknown) => Promise<Effect>,
): Promise<Effect> {
  const { payload, traceparent } = readPayload(text)
  if (tracer === null || traceparent === null) return handle(payload)
  const attributes = { 'messaging.operation.name': kind, 'svc.attempt': attempt }
  return tracer.resume({ name: `job ${kind}`, kind: 'consumer', attributes }, traceparent, async () =>
    inActiveSpan(await handle(payload)),
  )
}
