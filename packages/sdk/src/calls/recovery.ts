// Whether and when to repeat an attempt that failed.

import { type Endpoint, ONCE_HEADERS } from '@svc/api/endpoint'
import type { Context } from '../context.ts'
import { GatewayError, isGatewayError, type NoAnswer, NotThisService } from '../errors.ts'
import { isLastingError, networkErrorCode } from '../network-errors.ts'
import { syncClock } from './clock.ts'
import { isSigned } from './credentials.ts'
import type { AnyInput } from './input.ts'
import { EndlessAnswer } from './read-answer.ts'

const MAX_ATTEMPTS = 5
const FIRST_PAUSE_MS = 500
/** Longer waits are left to the caller. */
const LONGEST_PAUSE_SECONDS = 60

/** A gateway whose database was restored requests this wait, and needs its admin. During a mere check it is seconds. */
const HEALED_BY_HAND_SECONDS = 60

type Failure = GatewayError | NoAnswer

/** Milliseconds to wait before the next attempt; null if another attempt would not help or would be unsafe. */
export type Recovery = (failure: Failure, attempts: number) => Promise<number | null>

export function createRecovery(context: Context, endpoint: Endpoint, input: AnyInput): Recovery {
  const isByEnvelope = isSigned(context, endpoint)
  const mayRepeat = isRepeatable(endpoint, input)
  const tried = new Set<string>()
  const once = (cure: string) => !tried.has(cure) && Boolean(tried.add(cure))

  const learnsClock = () =>
    syncClock(context).then(
      () => true,
      () => false,
    )

  return async (failure, attempts) => {
    if (isGatewayError(failure, 'STORAGE_UNAVAILABLE') && context.retryStorageFor !== 'minutes')
      return mayRepeat ? storagePause(context, failure, attempts) : null
    if (attempts >= MAX_ATTEMPTS) return null
    if (isGatewayError(failure, 'EXPIRED_ENVELOPE', 'ENVELOPE_NOT_YET_VALID')) {
      return once('clock') && (await learnsClock()) ? 0 : null
    }
    // A proxy sent the request twice: the first one, whose answer is lost, has used the nonce.
    if (isGatewayError(failure, 'NONCE_REPLAYED')) return mayRepeat && once('nonce') ? 0 : null
    if (isByEnvelope && isGatewayError(failure, 'validation_error')) return once('envelope') ? 0 : null
    if (failure instanceof GatewayError && !isFromProxy(failure)) return requestedPause(failure, mayRepeat, attempts)
    return mayRepeat && !isFinal(failure) ? growingPause(attempts) : null
  }
}

/** Timeouts take minutes, so they are not retried. Errors that would repeat are not retried either. */
function isFinal(failure: Failure): boolean {
  const code = networkErrorCode(failure.cause)
  const isTimeout = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT'
  const isEndless = failure.cause instanceof EndlessAnswer
  return isTimeout || isEndless || isLastingError(failure.cause) || failure instanceof NotThisService
}

/** Whether a proxy answered because it could not reach the gateway. */
function isFromProxy({ status, code }: GatewayError): boolean {
  return status >= 500 && code === `http_${status}`
}

function requestedPause(
  { status, code, retryAfter }: GatewayError,
  mayRepeat: boolean,
  attempts: number,
): number | null {
  const isBusy = code === 'RATE_LIMITED' || (status === 503 && mayRepeat) || (code === 'request_timeout' && mayRepeat)
  if (!isBusy) return null
  if (retryAfter === null) return growingPause(attempts)
  if (code === 'database_behind' && retryAfter >= HEALED_BY_HAND_SECONDS) return null
  return retryAfter <= LONGEST_PAUSE_SECONDS ? retryAfter * 1000 : null
}

/** For callers who prefer an error over a long wait. */
const STORAGE_PAUSE_MS = 2000

function storagePause(context: Context, { retryAfter }: GatewayError, attempts: number): number | null {
  if (context.retryStorageFor === 'forever')
    return jittered(1000 * Math.min(retryAfter ?? 5 * attempts, LONGEST_PAUSE_SECONDS))
  if (attempts === 1 && !context.isStorageAbandoned) return jittered(STORAGE_PAUSE_MS)
  context.isStorageAbandoned = true
  return null
}

export function growingPause(attempts: number): number {
  return jittered(FIRST_PAUSE_MS * 2 ** (attempts - 1))
}

/** Varies a wait by a fifth, so that clients that were refused together do not retry together. */
export function jittered(ms: number): number {
  return ms * (0.8 + 0.4 * Math.random())
}

/** Whether the call may be repeated when it is unknown whether the first one arrived. */
function isRepeatable({ method, repeatable = false }: Endpoint, { headers = {}, body }: AnyInput): boolean {
  if (method !== 'POST') return true
  if (repeatable === 'if-named') return hasFilenames(body as FilesBody)
  if (repeatable === 'with-once-header')
    return Object.keys(headers).some((header) => ONCE_HEADERS.includes(header.toLowerCase()))
  return repeatable
}

interface FilesBody {
  filename?: string
  files?: readonly { filename?: string }[]
}

function hasFilenames({ filename, files }: FilesBody): boolean {
  return files ? files.every((file) => file.filename !== undefined) : filename !== undefined
}
