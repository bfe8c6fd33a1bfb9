// The meaning of Google Cloud Storage's unexpected answers.

import type { TextAnswer } from '../http/exchange.ts'
import { ProviderError } from '../provider.ts'

const RATE_LIMITS = ['rateLimitExceeded', 'userRateLimitExceeded']
const QUOTAS = ['quotaExceeded', 'storageQuotaExceeded', 'dailyLimitExceeded']

export function answerError({ status, text }: Pick<TextAnswer, 'status' | 'text'>): ProviderError {
  const { code, message } = parseError(text)
  const cause = new Error(`the store answered ${status} ${code}: ${message}`)
  const isRetryable = status === 408 || status === 429 || status >= 500 || RATE_LIMITS.includes(code)
  return new ProviderError(isRetryable ? 'unavailable' : reasonOf(status, code, text), cause, {
    isRetryable,
    answer: { status, code },
  })
}

function reasonOf(status: number, code: string, text: string): ProviderError['reason'] {
  if (QUOTAS.includes(code)) return 'full'
  return status === 401 || status === 403 || isBucketMissing({ status, text }) ? 'closed' : 'unavailable'
}

/** Our token is no longer accepted. */
export function isTokenRejected(error: unknown): boolean {
  return error instanceof ProviderError && error.reason === 'closed' && error.answer?.status === 401
}

/** The session of an upload has expired, and so has all that was sent to it. */
export function isSessionGone(error: unknown): boolean {
  return (
    error instanceof ProviderError && error.reason === 'unavailable' && [404, 410].includes(error.answer?.status ?? 0)
  )
}

/** A missing object has the same status. */
export function isBucketMissing({ status, text }: Pick<TextAnswer, 'status' | 'text'>): boolean {
  return status === 404 && /bucket does not exist/i.test(text)
}

function parseError(text: string): { code: string; message: string } {
  try {
    const { error } = JSON.parse(text)
    return { code: `${error.errors?.[0]?.reason ?? ''}`.slice(0, 60), message: `${error.message}`.slice(0, 300) }
  } catch {
    return { code: '', message: text.slice(0, 200) }
  }
}
