// Sends finished spans to a collector: OTLP over HTTP, as JSON. An unavailable collector costs spans, never requests.

import type { Attributes, FinishedSpan, SpanOptions } from './span.ts'

export interface ExporterOptions {
  /** The collector's URL; spans go to /v1/traces below it. */
  endpoint: string
  headers: Readonly<Record<string, string>>
  serviceName: string
  log: { warn(details: object, message: string): void }
}

export interface Exporter {
  add(span: FinishedSpan): void
  stop(): Promise<void>
}

const SEND_EVERY_MS = 2000
const BATCH_SPANS = 512
/** The largest number of waiting spans; further ones are dropped. */
const MAX_WAITING = 8192
const TIMEOUT_MS = 5000
const COMPLAIN_EVERY_MS = 60_000

export function createExporter({ endpoint, headers, serviceName, log }: ExporterOptions): Exporter {
  const url = `${endpoint}/v1/traces`
  let waiting: FinishedSpan[] = []
  let dropped = 0
  let sending: Promise<void> | undefined
  let complainedAt = Number.NEGATIVE_INFINITY
  const timer = setInterval(send, SEND_EVERY_MS).unref()

  function send(): void {
    sending ??= sendAll().finally(() => {
      sending = undefined
    })
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH_SPANS)
      try {
        await post(JSON.stringify(requestBody(serviceName, batch)))
      } catch (error) {
        dropped += batch.length
        return logFailure(error)
      }
    }
  }

  async function post(body: string): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`HTTP ${response.status}`)
  }

  function logFailure(error: unknown): void {
    if (performance.now() - complainedAt < COMPLAIN_EVERY_MS) return
    complainedAt = performance.now()
    log.warn({ err: error, dropped }, 'traces cannot be sent to the collector and are dropped')
    dropped = 0
  }

  return {
    add(span) {
      if (waiting.length >= MAX_WAITING) dropped++
      else waiting.push(span)
      if (waiting.length === BATCH_SPANS) send()
    },

    async stop() {
      clearInterval(timer)
      await sending
      send()
      await sending
      waiting = []
    },
  }
}

const KINDS: Record<SpanOptions['kind'], number> = { server: 2, client: 3, consumer: 5 }
const STATUS_ERROR = 2

function requestBody(serviceName: string, spans: readonly FinishedSpan[]): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: serviceName } }] },
        scopeSpans: [{ scope: { name: '@svc/tracing' }, spans: spans.map(wireSpan) }],
      },
    ],
  }
}

function wireSpan(span: FinishedSpan): object {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId !== null && { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: wireAttributes(span.attributes),
    ...(span.isFailed && { status: { code: STATUS_ERROR } }),
  }
}

function wireAttributes(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}

/** More digits than a double holds. */
function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds)
  return `${whole}${String(Math.floor((milliseconds - whole) * 1e6)).padStart(6, '0')}`
}
