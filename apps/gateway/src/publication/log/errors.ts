import { ServiceError } from '@svc/service/service-error'
import { ProviderError } from '@svc/storage/provider'

export function nothingPublished(): ServiceError {
  return new ServiceError('not_in_log', 'the log has no checkpoint yet', {
    hint: 'the first one follows a few seconds after the first statement',
  })
}

export function tileNotInLog(): ServiceError {
  return new ServiceError('not_in_log', 'the log has no such tile', {
    hint: 'tiles are named as C2SP tlog-tiles says, up to the size that /log/checkpoint has',
  })
}

export function statementNotInLog(): ServiceError {
  return new ServiceError('not_in_log', 'the log has no such statement', {
    hint: 'a new statement is in the log a few seconds after it was made; records of the oracle era are not in it',
  })
}

/** What the bucket or the disk of the log has to say is for the operator. */
export function throwUnavailable(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error
  throw new ServiceError('STORAGE_UNAVAILABLE', 'the log cannot be read right now', {
    hint: 'try again in a moment',
    headers: { 'retry-after': '5' },
    cause: error,
  })
}
