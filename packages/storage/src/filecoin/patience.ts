import { setTimeout } from 'node:timers/promises'
import { PATIENCE as HTTP_PATIENCE, type Patience as HttpPatience } from '../timeouts.ts'
import { ProviderError } from '../provider.ts'

/** How long the provider and the chain are waited for, in milliseconds. */
export interface Patience extends HttpPatience {
  /** Between two looks at what takes its time. */
  everyMs: number
  /** For what takes its time, in one run. */
  waitMs: number
  /** Until what was sent, and is not on the chain, counts as lost. */
  lostMs: number
}

export const PATIENCE: Patience = {
  ...HTTP_PATIENCE,
  everyMs: 5_000,
  waitMs: 90_000,
  lostMs: 900_000,
}

/** What is waited for has not come yet: it is to be tried again later. */
export class NotYet extends ProviderError {
  constructor(what: string) {
    super('unavailable', new Error(`${what} takes its time`))
  }
}

/** Looks until there is something, for a while. */
export async function until<T>(
  { everyMs, waitMs }: Patience,
  signal: AbortSignal,
  what: string,
  look: () => Promise<T | null>,
): Promise<T> {
  const end = performance.now() + waitMs
  for (;;) {
    const seen = await look()
    if (seen !== null) return seen
    if (performance.now() >= end) throw new NotYet(what)
    await setTimeout(everyMs, undefined, { signal })
  }
}
