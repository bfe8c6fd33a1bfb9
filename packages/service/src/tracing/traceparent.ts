// The header `traceparent` of W3C Trace Context: version, trace, span, flags.

import type { TraceContext } from './span.ts'

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const SAMPLED = 1

/** Null for values that the specification ignores. */
export function parseTraceparent(text: string): (TraceContext & { isSampled: boolean }) | null {
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(text) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 }
}

/** For a recorded span. */
export function formatTraceparent({ traceId, spanId }: TraceContext): string {
  return `00-${traceId}-${spanId}-01`
}
