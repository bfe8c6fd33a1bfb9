// Traces of a service: the settings, and a span for each request.

import { type Route, routerPath } from '../http/router.ts'
import { elapsedMs } from '../http/send.ts'
import type { Settings, SettingsReader } from '../program/config.ts'
import type { Log } from '../program/log.ts'
import { runInSpan } from './active-span.ts'
import { preciseNow } from './span.ts'
import type { Tracer } from './tracer.ts'

export interface TracingConfig {
  endpoint: string
  serviceName: string
  /** The share of traces that are recorded, from 0 to 1. */
  ratio: number
}

export interface TracingSecrets {
  /** Headers for the collector, such as an access key. */
  collectorHeaders: Record<string, string>
}

/** The names follow OpenTelemetry. */
export const TRACING_SETTINGS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    group: 'tuning',
    help: 'Collector for OpenTelemetry traces (OTLP over HTTP; /v1/traces is added); empty for no traces',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    group: 'tuning',
    isSecret: true,
    help: 'Headers for the collector: name=value, separated by commas, with values percent-encoded',
  },
  OTEL_SERVICE_NAME: { group: 'tuning', help: 'Name of this service in traces' },
  OTEL_TRACES_SAMPLER_ARG: {
    group: 'tuning',
    default: '1',
    help: "The share of traces that are recorded, from 0 to 1; a caller's traceparent is followed, but cannot raise this",
  },
} as const satisfies Settings

/** Null when nothing is traced. */
export function readTracingSettings(settings: SettingsReader): [TracingConfig | null, TracingSecrets] {
  const endpoint = settings.url('OTEL_EXPORTER_OTLP_ENDPOINT')
  const config = { endpoint, serviceName: settings.text('OTEL_SERVICE_NAME'), ratio: readRatio(settings) }
  return [endpoint === '' ? null : config, { collectorHeaders: readHeaders(settings) }]
}

function readRatio(settings: SettingsReader): number {
  const text = settings.text('OTEL_TRACES_SAMPLER_ARG')
  const ratio = /^(0(\.\d+)?|1(\.0+)?)$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(ratio)) settings.problem(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "${text}"`)
  return ratio
}

/** Comma-separated `name=value` entries with percent-encoded values. Never quoted: they are secrets. */
function readHeaders(settings: SettingsReader): Record<string, string> {
  const entries = settings.list('OTEL_EXPORTER_OTLP_HEADERS')
  // The first `Headers` makes Node load its HTTP client, which takes time and memory at the start of every service.
  if (entries.length === 0) return {}
  try {
    return Object.fromEntries(new Headers(entries.map(readHeader)))
  } catch {
    settings.problem(
      'OTEL_EXPORTER_OTLP_HEADERS must be name=value entries, separated by commas, with values percent-encoded',
    )
    return {}
  }
}

function readHeader(entry: string): [name: string, value: string] {
  const [name = '', ...value] = entry.split('=')
  return [name.trim(), decodeURIComponent(value.join('=').trim())]
}

/** Loads the tracer only when it is needed. */
export async function openTracer(
  config: TracingConfig | null,
  { collectorHeaders }: TracingSecrets,
  log: Log,
): Promise<Tracer | null> {
  if (config === null) return null
  const { createTracer } = await import('./tracer.ts')
  return createTracer({ ...config, headers: collectorHeaders, log })
}

/** Paths that machines request every few seconds. */
const UNTRACED = /^\/(health|metrics)/

/** The handler of a route, with a span that ends when the last byte is sent. */
export function tracedHandler(tracer: Tracer, { path, handle }: Route): Route['handle'] {
  if (UNTRACED.test(path)) return handle
  const route = routerPath(path)
  return (request) => {
    const { method, headers, response } = request
    const attributes = { 'http.request.method': method, 'http.route': route }
    const caller = typeof headers.traceparent === 'string' ? headers.traceparent : undefined
    const span = tracer.begin(
      { name: `${method} ${route}`, kind: 'server', attributes },
      caller,
      preciseNow() - elapsedMs(request),
    )
    if (!span) return handle(request)
    response.once('close', () => {
      const { statusCode } = response
      span.end({ 'http.response.status_code': statusCode }, { isFailed: statusCode >= 500 })
    })
    return runInSpan(span, () => handle(request))
  }
}
