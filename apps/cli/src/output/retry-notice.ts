import type { Retry } from '@svc/sdk'
import { GatewayError } from '@svc/sdk/errors'
import { shown } from './shown.ts'

/** A shorter delay is not worth a line. */
const SHORTEST_MS = 900

/** Explains a delay with one line, however many requests wait at the same time. */
export function retryNotice(note: (text: string) => void, now: () => number): (retry: Retry) => void {
  let until = 0
  return ({ service, waitMs, error }) => {
    if (waitMs < SHORTEST_MS || now() < until) return
    until = now() + waitMs
    note(`The ${service} ${reasonText(error)}; trying again in ${Math.round(waitMs / 1000)} s…`)
  }
}

function reasonText(error: unknown): string {
  return error instanceof GatewayError ? `answers ${shown(error.code)}` : 'does not answer'
}
