// How long providers are waited for, and how often a step is tried again: the same words for every driver.

import { retry } from '@svc/concurrency/retry'
import { ProviderError } from './provider.ts'

export interface Timeouts {
  /** To connect. Health checks of databases take no longer than this. */
  connectMs: number
  /** For an answer, once the request is sent; for a database, from the first byte of a step to the last. */
  answerMs: number
  /** How often a step runs at most. */
  attempts: number
  /** Before the second attempt; doubles before each further one. */
  backoffMs: number
  /** No attempt begins later than this after the first. With it, a step that timed out is tried again too. */
  giveUpMs?: number
}

export interface HttpTimeouts extends Timeouts {
  /** For `100 Continue`; the body is sent without it after that. */
  continueMs: number
  /** Without a byte of an answer, or without room for the next bytes of a body. */
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

/** HTTP statuses of errors that may be over in a moment. */
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
  /** Whether the step can run again: a body that was streamed cannot be sent twice. */
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
export function onceMore<Result>(step: () => Promise<Result>): Promise<Result> {
  return withRetries({ attempts: 2, backoffMs: 0 }, step)
}
