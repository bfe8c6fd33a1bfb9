// The request header Accept-Payment: which payment methods a client has, and which it likes better.

import type { IncomingHttpHeaders } from 'node:http'
import type { QuoteId } from '../quote.ts'
import { type Charge, challengeHeader, type QuoteCharges } from './challenge.ts'

const MAX_CHARACTERS = 512
const RANGE = /^([a-z0-9-]+|\*)\/([a-zA-Z0-9-]+|\*)(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/

interface Range {
  method: string
  intent: string
  weight: number
}

/** The header WWW-Authenticate of a quote, with what the client can pay by. */
export function challengesFor(
  { charges, payee }: QuoteCharges,
  id: QuoteId,
  { headers }: { headers: IncomingHttpHeaders },
): string | null {
  return challengeHeader(acceptedCharges(charges, headers['accept-payment']), id, payee)
}

/** The charges that the client can pay, the best first. All of them if it names none of ours, or nothing readable. */
export function acceptedCharges(charges: readonly Charge[], header: string | string[] | undefined): readonly Charge[] {
  const ranges = typeof header === 'string' ? readRanges(header) : null
  if (!ranges) return charges
  const weighted = charges
    .map((charge) => ({ charge, weight: weightOf(charge, ranges) }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  return weighted.length === 0 ? charges : weighted.map(({ charge }) => charge)
}

function readRanges(header: string): Range[] | null {
  if (header.length > MAX_CHARACTERS) return null
  const ranges = header.split(',').map((text) => RANGE.exec(text.trim()))
  return ranges.every((match) => match !== null)
    ? ranges.map(([, method = '', intent = '', weight = '1']) => ({ method, intent, weight: Number(weight) }))
    : null
}

/** By the most specific range that fits. */
function weightOf({ method }: Charge, ranges: readonly Range[]): number {
  const fitting = ranges.filter(
    (range) => [method, '*'].includes(range.method) && ['charge', '*'].includes(range.intent),
  )
  const [best] = fitting.toSorted((a, b) => wildcards(a) - wildcards(b) || b.weight - a.weight)
  return best?.weight ?? 0
}

function wildcards({ method, intent }: Range): number {
  return [method, intent].filter((part) => part === '*').length
}
