import type { Retry } from '@svc/sdk'
import { GatewayError } from '@svc/sdk/errors'
import { shown } from './shown.ts'

/** What passes by itself sooner than it can be read is not worth a line. */
const SHORTEST_MS = 900

/** Tells people why nothing happens: a line for each wait, however many requests wait together. */
export function retryNotice(note: (text: string) => void, now: () => number): (retry: Retry) => void {
  let until = 0
  return ({ service, waitMs, error }) => {
    if (waitMs < SHORTEST_MS || now() < until) return
    until = now() + waitMs
    note(`The ${service} ${whatItDoes(error)}; trying again in ${Math.round(waitMs / 1000)} s…`)
  }
}

function whatItDoes(error: unknown): string {
  return error instanceof GatewayError ? `answers ${shown(error.code)}` : 'does not answer'
}
