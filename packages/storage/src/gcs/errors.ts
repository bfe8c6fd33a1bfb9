import { ProviderError } from '../provider.ts'
import { PassingTrouble } from './patience.ts'

const TOO_FAST = ['rateLimitExceeded', 'userRateLimitExceeded']
const NO_ROOM = ['quotaExceeded', 'storageQuotaExceeded', 'dailyLimitExceeded']

/** Our token is let in no longer. */
export class StaleToken extends ProviderError {
  constructor(cause: unknown) {
    super('closed', cause)
  }
}

/** What it means that the store answered so. */
export function troubleOf(status: number, text: string): ProviderError {
  const { reason, message } = readError(text)
  const cause = new Error(`the store answered ${status} ${reason}: ${message}`)
  if (status === 408 || status === 429 || status >= 500 || TOO_FAST.includes(reason)) return new PassingTrouble(cause)
  if (NO_ROOM.includes(reason)) return new ProviderError('full', cause)
  if (status === 401) return new StaleToken(cause)
  const isClosed = status === 403 || isBucketMissing(status, text)
  return new ProviderError(isClosed ? 'closed' : 'unavailable', cause)
}

/** A missing object is answered with the same status. */
export function isBucketMissing(status: number, text: string): boolean {
  return status === 404 && /bucket does not exist/i.test(text)
}

function readError(text: string): { reason: string; message: string } {
  try {
    const { error } = JSON.parse(text)
    return { reason: `${error.errors?.[0]?.reason ?? ''}`.slice(0, 60), message: `${error.message}`.slice(0, 300) }
  } catch {
    return { reason: '', message: text.slice(0, 200) }
  }
}
