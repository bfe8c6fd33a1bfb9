import { MongoNetworkTimeoutError, MongoServerError, MongoServerSelectionError } from 'mongodb'
import { ProviderError } from '../provider.ts'

/** UserNotFound, Unauthorized, AuthenticationFailed, ReauthenticationRequired. */
const NOT_LET_IN = [11, 13, 18, 391]
/** OutOfDiskSpace, and the quota of older hosts. */
const NO_ROOM = [14_031, 12_501]
/** A hosted cluster says in words what is wrong. */
const ATLAS_ERROR = 8000
/** Also while data is moved to another cluster; a full disk is named. */
const USER_WRITES_BLOCKED = 371
const DUPLICATE_KEY = 11_000

export function troubleOf(error: unknown): ProviderError {
  return new ProviderError(error instanceof MongoServerError ? reasonOf(error) : 'unavailable', error)
}

function reasonOf({ code, message }: MongoServerError): ProviderError['reason'] {
  const number = Number(code)
  if (NOT_LET_IN.includes(number) || (number === ATLAS_ERROR && /auth/i.test(message))) return 'closed'
  if (NO_ROOM.includes(number) || (number === ATLAS_ERROR && /quota/i.test(message))) return 'full'
  return number === USER_WRITES_BLOCKED && /disk/i.test(message) ? 'full' : 'unavailable'
}

export function isTaken(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY
}

export function isTimeOut(error: unknown): boolean {
  return error instanceof MongoServerSelectionError || error instanceof MongoNetworkTimeoutError
}
