import { retry } from '@svc/concurrency/retry'
import { ProviderError } from './provider.ts'
import { HttpRefusal } from './http/http-refusal.ts'

/** How long the store is waited for, in milliseconds. */
export interface Patience {
  connectMs: number
  /** For its word that a body may come; without it the body is sent all the same. */
  continueMs: number
  /** For an answer, once all is sent. */
  answerMs: number
  /** Without a byte of an answer, or until there is room again for what is to be sent. */
  idleMs: number
  /** How often a step is tried. */
  attempts: number
  /** Before the second try; twice as long before each further one. */
  backoffMs: number
}

export const PATIENCE: Patience = {
  connectMs: 10_000,
  continueMs: 1_000,
  answerMs: 30_000,
  idleMs: 30_000,
  attempts: 4,
  backoffMs: 250,
}

/** The cause of trouble with a store that keeps us waiting. To try again would be to wait again. */
export class TooSlow extends Error {
  override name = 'TooSlow'
}

const PASSING = [408, 429, 500, 502, 503, 504]

/** Does a step again while its trouble may pass and it may be done twice. */
export function retrying<T>({ attempts, backoffMs }: Patience, step: () => Promise<T>, mayRepeat: () => boolean) {
  return retry(step, { attempts, backoffMs, isRetryable: (error) => mayPass(error) && mayRepeat() })
}

function mayPass(error: unknown): boolean {
  if (error instanceof HttpRefusal) return PASSING.includes(error.status)
  return error instanceof ProviderError && !(error.cause instanceof TooSlow)
}
