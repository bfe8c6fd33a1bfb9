// Timeouts and retries of providers: the same terms for every driver.

import { retry } from '@svc/concurrency/retry'
import { ProviderError } from './provider.ts'

export interface Timeouts {
  /** The time limit of a connection attempt. Health checks of databases take no longer. */
  connectMs: number
  /** The time limit of an answer, once the request is sent; for a database, of a whole step. */
  answerMs: number
  /** The largest number of runs of a step. */
  attempts: number
  /** The pause before the second attempt; doubles before each further one. */
  backoffMs: number
  /** No attempt begins later than this after the first. With it, a step that timed out is retried too. */
  giveUpMs?: number
}

export interface HttpTimeouts extends Timeouts {
  /** The wait for `100 Continue`; after that the body is sent without it. */
  continueMs: number
  /** The longest wait for a byte of an answer, or for the provider to accept the next bytes of a body. */
  idleMs: number
}

export const HTTP_TIMEOUTS: HttpTimeouts = {
  connectMs: 10_000,
  continueMs: 1_000,
  answerMs: 30_000,
  idleMs: 30_000,
  attempts: 4,
  backoffMs: 250,
}

/** HTTP statuses of temporary errors. */
const RETRYABLE_STATUSES = [408, 429, 500, 502, 503, 504]

export function isRetryableStatus(status: number): boolean {
  return RETRYABLE_STATUSES.includes(status)
}

export function timedOut(message: string): ProviderError {
  return new ProviderError('unavailable', message, { isTimeout: true })
}

export function retriesTimeouts({ giveUpMs }: Pick<Timeouts, 'giveUpMs'>): boolean {
  return giveUpMs !== undefined
}

interface RetryLimits {
  /** Whether the step can be repeated: a streamed body cannot be sent twice. */
  isRepeatable?: () => boolean
  /** Ends the attempts; its reason is thrown. */
  signal?: AbortSignal | undefined
}

/** Runs a step until it succeeds, its error is not retryable, or the attempts are used up. */
export function withRetries<Result>(
  timeouts: Pick<Timeouts, 'attempts' | 'backoffMs' | 'giveUpMs'>,
  step: () => Promise<Result>,
  { isRepeatable = () => true, signal }: RetryLimits = {},
): Promise<Result> {
  const isRetryable = (error: unknown) =>
    error instanceof ProviderError &&
    (error.isRetryable || (error.isTimeout && retriesTimeouts(timeouts))) &&
    isRepeatable()
  const attempt = () =>
    step().catch((error) => {
      signal?.throwIfAborted()
      throw error
    })
  return retry(attempt, { ...timeouts, isRetryable, signal })
}

/** For requests that change nothing: an idle connection may turn out to be closed only when it is used. */
export function retryOnce<Result>(step: () => Promise<Result>): Promise<Result> {
  return withRetries({ attempts: 2, backoffMs: 0 }, step)
}
