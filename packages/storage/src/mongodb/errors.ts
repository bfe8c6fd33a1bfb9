import { MongoNetworkTimeoutError, MongoServerError, MongoServerSelectionError } from 'mongodb'
import { ProviderError } from '../provider.ts'

/** UserNotFound, Unauthorized, AuthenticationFailed, ReauthenticationRequired. */
const CLOSED = [11, 13, 18, 391]
/** OutOfDiskSpace, and the quota of older hosts. */
const FULL = [14_031, 12_501]
/** Hosted clusters report the reason in their message. */
const ATLAS_ERROR = 8000
/** Also while data is moved to another cluster; the message distinguishes a full disk. */
const USER_WRITES_BLOCKED = 371
const DUPLICATE_KEY = 11_000

/** A step that timed out is not retried. */
export function stepError(error: unknown, hasTimedOut: boolean): ProviderError {
  const reason = error instanceof MongoServerError ? reasonOf(error) : 'unavailable'
  const isTimeout =
    hasTimedOut || error instanceof MongoServerSelectionError || error instanceof MongoNetworkTimeoutError
  return new ProviderError(reason, error, { isRetryable: reason === 'unavailable' && !isTimeout, isTimeout })
}

function reasonOf({ code, message }: MongoServerError): ProviderError['reason'] {
  const number = Number(code)
  if (CLOSED.includes(number) || (number === ATLAS_ERROR && /auth/i.test(message))) return 'closed'
  if (FULL.includes(number) || (number === ATLAS_ERROR && /quota/i.test(message))) return 'full'
  return number === USER_WRITES_BLOCKED && /disk/i.test(message) ? 'full' : 'unavailable'
}

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY
}
