// Begins traces, and decides which are recorded.

import { errorType, runInSpan } from './active-span.ts'
import { createExporter, type ExporterOptions } from './exporter.ts'
import { type Span, type SpanOptions, startSpan } from './span.ts'
import { parseTraceparent } from './traceparent.ts'

export interface TracerOptions extends ExporterOptions {
  /** The share of traces that are recorded, from 0 to 1. */
  ratio: number
}

export interface Tracer {
  /**
   * A span that continues a trace of the caller, or begins one. Null when it is not recorded. A caller can opt out of
   * recording, but not opt in: the draw is ours, and does not depend on the caller's id.
   */
  begin(options: SpanOptions, traceparent: string | undefined, startedAt?: number): Span | null
  /** Continues a trace that was recorded before, in this process or another one of ours. */
  resume<T>(options: SpanOptions, traceparent: string, work: () => Promise<T>): Promise<T>
  /** Sends the remaining spans, for a few seconds at most. */
  stop(): Promise<void>
}

export function createTracer({ ratio, ...options }: TracerOptions): Tracer {
  const exporter = createExporter(options)
  return {
    begin(span, traceparent, startedAt) {
      const caller = traceparent === undefined ? null : parseTraceparent(traceparent)
      if (caller?.isSampled === false || Math.random() >= ratio) return null
      return startSpan(span, caller, exporter.add, startedAt)
    },

    async resume(options, traceparent, work) {
      const parent = parseTraceparent(traceparent)
      if (!parent) return work()
      const span = startSpan(options, parent, exporter.add)
      try {
        const result = await runInSpan(span, work)
        span.end()
        return result
      } catch (error) {
        span.end({ 'error.type': errorType(error) }, { isFailed: true })
        throw error
      }
    },

    stop: exporter.stop,
  }
}
