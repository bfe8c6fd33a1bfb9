import { status } from '@grpc/grpc-js'
import { withoutDetails } from '../google-account.ts'
import { ProviderError } from '../provider.ts'

/** When `NOT_FOUND` is not about a document, the database is missing or of another kind. */
const CLOSED = [status.UNAUTHENTICATED, status.PERMISSION_DENIED, status.NOT_FOUND, status.FAILED_PRECONDITION]
const RETRYABLE = [
  status.UNAVAILABLE,
  status.INTERNAL,
  status.ABORTED,
  status.UNKNOWN,
  status.CANCELLED,
  status.RESOURCE_EXHAUSTED,
]
/** The token service rejects the key. */
const KEY_REJECTED = /metadata from plugin failed.*invalid_(?:grant|client)/

/** An error without a status means that no request was sent: there are no credentials. */
export function callError(error: unknown): ProviderError {
  const code = (error as { code?: unknown }).code
  if (typeof code !== 'number') return new ProviderError('closed', withoutDetails(error))
  const answer = { status: code }
  if (CLOSED.includes(code) || KEY_REJECTED.test((error as Error).message)) {
    return new ProviderError('closed', error, { answer })
  }
  return new ProviderError(code === status.RESOURCE_EXHAUSTED ? 'full' : 'unavailable', error, {
    isRetryable: RETRYABLE.includes(code),
    isTimeout: code === status.DEADLINE_EXCEEDED,
    answer,
  })
}

export function hasStatus(error: unknown, answered: status): boolean {
  return error instanceof ProviderError && error.answer?.status === answered
}
