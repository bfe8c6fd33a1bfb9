// A span: one piece of work, its start and end, and the span that caused it.

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'

/**
 * All attributes of a span (T-12). Receipt ids, tokens, names, addresses with keys and error texts open or quote
 * something, so no attribute can contain them.
 */
export interface Attributes {
  'http.request.method'?: string
  /** The declared path, never the requested one. */
  'http.route'?: string
  'http.response.status_code'?: number
  'messaging.operation.name'?: string
  /** The number of the job's run. */
  'svc.attempt'?: number
  'rpc.system'?: 'jsonrpc'
  'rpc.method'?: string
  /** The host of a node, without path and user. */
  'server.address'?: string
  /** The class of an error, never its text. */
  'error.type'?: string
}

export interface SpanOptions {
  name: string
  kind: 'server' | 'client' | 'consumer'
  attributes: Attributes
}

export interface TraceContext {
  /** 32 hex characters. */
  traceId: string
  /** 16 hex characters. */
  spanId: string
}

export interface FinishedSpan extends SpanOptions, TraceContext {
  parentSpanId: string | null
  /** Unix milliseconds, with fractions. */
  startedAt: number
  endedAt: number
  isFailed: boolean
}

export interface Span extends TraceContext {
  child(options: SpanOptions): Span
  /** Ends the span; a second call does nothing. */
  end(attributes?: Attributes, outcome?: { isFailed: boolean }): void
}

export function startSpan(
  options: SpanOptions,
  parent: TraceContext | null,
  onEnd: (span: FinishedSpan) => void,
  startedAt = preciseNow(),
): Span {
  const traceId = parent?.traceId ?? newId(16)
  const spanId = newId(8)
  let isEnded = false
  const span: Span = {
    traceId,
    spanId,
    child: (childOptions) => startSpan(childOptions, span, onEnd),
    end(attributes, { isFailed = false } = { isFailed: false }) {
      if (isEnded) return
      isEnded = true
      onEnd({
        ...options,
        attributes: { ...options.attributes, ...attributes },
        traceId,
        spanId,
        parentSpanId: parent?.spanId ?? null,
        startedAt,
        endedAt: preciseNow(),
        isFailed,
      })
    },
  }
  return span
}

/** Unix milliseconds with fractions. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now()
}

function newId(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
