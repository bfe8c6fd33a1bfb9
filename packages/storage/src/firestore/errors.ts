import { status } from '@grpc/grpc-js'
import { ProviderError } from '../provider.ts'

/** Where `NOT_FOUND` is no answer about a document, the database is not there, or is one of another kind. */
const NOT_LET_IN = [status.UNAUTHENTICATED, status.PERMISSION_DENIED, status.NOT_FOUND, status.FAILED_PRECONDITION]
const PASSING = [
  status.UNAVAILABLE,
  status.INTERNAL,
  status.ABORTED,
  status.UNKNOWN,
  status.CANCELLED,
  status.RESOURCE_EXHAUSTED,
]
/** A key that is good no longer, in the words of those who give out tokens. */
const NO_TOKEN = /metadata from plugin failed.*invalid_(?:grant|client)/

/** Without a status nobody was asked: there are no credentials to ask with. */
export function troubleOf(error: unknown): ProviderError {
  const code = codeOf(error)
  if (code === null) return new ProviderError('closed', withoutDetails(error))
  if (NOT_LET_IN.includes(code) || NO_TOKEN.test((error as Error).message)) return new ProviderError('closed', error)
  return new ProviderError(code === status.RESOURCE_EXHAUSTED ? 'full' : 'unavailable', error)
}

export function isPassing({ reason, cause }: ProviderError): boolean {
  const code = codeOf(cause)
  return reason !== 'closed' && code !== null && PASSING.includes(code)
}

/** Whether the provider said so. */
export function isAnswered(error: unknown, answer: status): boolean {
  return error instanceof ProviderError && codeOf(error.cause) === answer
}

function codeOf(error: unknown): number | null {
  const code = (error as { code?: unknown }).code
  return typeof code === 'number' ? code : null
}

/** Errors of those who load credentials may carry whole requests, and those carry secrets. */
function withoutDetails(error: unknown): Error {
  return new Error(error instanceof Error ? error.message : 'no credentials')
}
