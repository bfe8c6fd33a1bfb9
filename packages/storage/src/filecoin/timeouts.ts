import { poll } from '@svc/concurrency/retry'
import { ProviderError } from '../provider.ts'
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../timeouts.ts'

export interface FilecoinTimeouts extends HttpTimeouts {
  /** The pause between two queries about the progress of the provider or the chain. */
  pollMs: number
  /** The time limit of that progress, in one run. */
  progressMs: number
  /** After this, a transaction that is not on the chain counts as lost. */
  lostMs: number
}

export const TIMEOUTS: FilecoinTimeouts = {
  ...HTTP_TIMEOUTS,
  pollMs: 5_000,
  progressMs: 90_000,
  lostMs: 900_000,
}

/** Polls until there is an answer; null when the time of this run is up. */
export function pollProgress<Result>(
  { pollMs, progressMs }: FilecoinTimeouts,
  signal: AbortSignal,
  ask: () => Promise<Result | null>,
): Promise<Result | null> {
  return poll(ask, { intervalMs: pollMs, timeoutMs: progressMs, signal })
}

/** A later run continues. */
export function notFinished(what: string): ProviderError {
  return new ProviderError('unavailable', `${what} is not finished yet`)
}
