// Time ranges as in the address: `7d`, or `2026-01-01..2026-01-31`. Days begin at midnight UTC.

const DAY = 86_400
export const SPANS: Readonly<Record<string, number>> = { '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY, '1y': 365 * DAY }
const CUSTOM = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/
/** The same limit as in the gateway. */
const MAX_SECONDS = 20 * 365 * DAY

export function isRange(range: string): boolean {
  return Object.hasOwn(SPANS, range) || daysOf(range) !== null
}

function daysOf(range: string): { from: number; to: number } | null {
  const [, first = '', last = ''] = CUSTOM.exec(range) ?? []
  const from = Date.parse(`${first}T00:00:00Z`) / 1000
  const to = Date.parse(`${last}T00:00:00Z`) / 1000 + DAY
  return from < to && to - from <= MAX_SECONDS ? { from, to } : null
}

/** The range in Unix seconds; `to` is exclusive. */
export function boundsOf(range: string, nowSeconds: number): { from: number; to: number } {
  return daysOf(range) ?? { from: nowSeconds - (SPANS[range] ?? 0), to: nowSeconds }
}

/** The current range as query parameters of the gateway. */
export function rangeQuery(range: string): { from: string; to: string } {
  const { from, to } = boundsOf(range, Date.now() / 1000)
  return { from: isoOf(from), to: isoOf(to) }
}

function isoOf(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
}
