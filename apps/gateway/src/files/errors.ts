// Upload errors name the layer that failed and what to do next (FILE-31).

import type { ErrorCode, UploadDetails } from '@svc/api/errors'
import { ServiceError } from '@svc/service/service-error'
import { ProviderError } from '@svc/storage/provider'

export function uploadError(
  code: ErrorCode,
  message: string,
  details: UploadDetails & Record<string, unknown>,
): ServiceError {
  return new ServiceError(code, message, { hint: details.recovery_hint, details })
}

export function fileNotFound(filename: string): ServiceError {
  return uploadError('FILE_NOT_FOUND', 'there is no file of this name in the locker', {
    layer: 'gateway',
    recovery_hint: 'create the file first; names are compared byte for byte',
    next_best_method: 'POST /v1/lockers/{locker_id}/files',
    filename,
  })
}

/** For an upload that may not replace files (ADD-60). */
export function namesTaken(filenames: readonly [string, ...string[]]): ServiceError {
  return uploadError('PRECONDITION_FAILED', 'there is a file of this name already, which the upload may not replace', {
    layer: 'gateway',
    recovery_hint: 'upload under another name; or upload without the condition, to replace the file',
    next_best_method: 'POST /v1/lockers/{locker_id}/files',
    filename: filenames[0],
    filenames,
  })
}

/** The same for a file that is confirmed and one that never existed. */
export function nothingToConfirm(filename: string): ServiceError {
  return uploadError('FILE_NOT_FOUND', 'there is no file of this name that waits to be confirmed', {
    layer: 'gateway',
    recovery_hint: 'sign the confirmation: the owner has closed or rotated the public link of this locker',
    next_best_method: 'POST /v1/files/confirm',
    filename,
  })
}

/** The entry exists without bytes: they were never uploaded, or the provider lost them. */
export function contentNotFound(lockerId: string, filename: string): ServiceError {
  return uploadError('CONTENT_NOT_FOUND', 'the file is listed, but there are no bytes of it', {
    layer: 'provider',
    recovery_hint: 'create the file again for a fresh upload_url, upload, then confirm',
    next_best_method: `POST /v1/lockers/${lockerId}/files`,
    filename,
  })
}

/** The object stays. The file stays unconfirmed until other bytes are uploaded. */
export function hashMismatch(filename: string, expected: string, actual: string): ServiceError {
  return uploadError('HASH_MISMATCH', 'the bytes are not those that expected_hash promised', {
    layer: 'provider',
    recovery_hint: 'upload the right bytes with the same upload_url, then confirm again',
    next_best_method: 'PUT upload_url',
    filename,
    expected,
    actual,
  })
}

/** Each time the bytes had been read, the file pointed at other bytes. */
export function keepsChanging(filename: string): ServiceError {
  return uploadError('CONTENT_HASH_CHANGED', 'the file was replaced each time its bytes had been read', {
    layer: 'gateway',
    recovery_hint: 'confirm again when no upload of the file is under way',
    next_best_method: 'POST /v1/files/confirm',
    filename,
  })
}

/** Where a provider cannot limit a direct upload, its size is known only once it is there. */
export function directUploadTooLarge(filename: string, size: number, maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `the upload has ${size} bytes and was removed; a file may have ${maxBytes}`, {
    layer: 'provider',
    recovery_hint: 'split the content into several files',
    next_best_method: 'POST /v1/lockers/{locker_id}/files',
    filename,
    max_bytes: maxBytes,
  })
}

/** The upload took so long that the sweep removed its object. */
export function uploadAbandoned(): ServiceError {
  return uploadError('STORAGE_UNAVAILABLE', 'the upload took too long, and was cleared away', {
    layer: 'gateway',
    recovery_hint: 'upload again; in parts where the line is slow',
    next_best_method: 'POST /v1/lockers/{locker_id}/upload-sessions',
  })
}

/** A provider's error as the client sees it: the storage is unavailable, and no detail of the provider (T-139). */
export function storageError(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.reason === 'signing-denied') return signingDenied(error)
  return new ServiceError('STORAGE_UNAVAILABLE', 'the storage behind this locker cannot be used right now', {
    hint: 'try again in a minute: nothing was changed',
    headers: { 'retry-after': '30' },
    details: {
      layer: 'provider',
      recovery_hint: 'nothing was stored; send the same request again later',
      next_best_method: 'the same',
    },
    cause: error,
  })
}

/** The only provider error with a code of its own (FILE-35). */
function signingDenied(cause: ProviderError): ServiceError {
  return new ServiceError('IAM_SIGNBLOB_PERMISSION_DENIED', 'the gateway may not sign addresses of its storage', {
    hint: 'nothing you can do: the operator has to let the gateway sign, or have bytes go through it',
    details: { layer: 'provider', recovery_hint: 'tell the operator of this gateway', next_best_method: 'none' },
    cause,
  })
}

export function keyRemoved(): ServiceError {
  return new ServiceError('SIGNATURE_INVALID', 'the key that signed was removed while the request was served', {
    hint: 'sign with the key that paid or a registered operator key',
  })
}
