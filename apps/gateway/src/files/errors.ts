// Upload errors name the layer that failed and the next step (FILE-31).

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
  return uploadError('FILE_NOT_FOUND', 'the locker has no file with this name', {
    layer: 'gateway',
    recovery_hint: 'check the name, which is compared byte for byte, or create the file',
    next_best_method: 'POST /v1/lockers/{locker_id}/files',
    filename,
  })
}

/** For an upload that may not replace files (ADD-60). */
export function namesTaken(filenames: readonly [string, ...string[]]): ServiceError {
  return uploadError('PRECONDITION_FAILED', 'a file with this name already exists, and the upload may not replace it', {
    layer: 'gateway',
    recovery_hint: 'use another name, or upload without the condition to replace the file',
    next_best_method: 'POST /v1/lockers/{locker_id}/files',
    filename: filenames[0],
    filenames,
  })
}

/** The same error for a confirmed file and for one that never existed. */
export function nothingToConfirm(filename: string): ServiceError {
  return uploadError('FILE_NOT_FOUND', 'no file with this name is waiting for confirmation', {
    layer: 'gateway',
    recovery_hint: 'sign the confirmation, because the owner has closed or rotated the public link of this locker',
    next_best_method: 'POST /v1/files/confirm',
    filename,
  })
}

/** The entry exists without bytes: they were never uploaded, or the provider lost them. */
export function contentNotFound(lockerId: string, filename: string): ServiceError {
  return uploadError('CONTENT_NOT_FOUND', 'the locker has an entry for this file, but no bytes', {
    layer: 'provider',
    recovery_hint: 'create the file again to get a new upload_url, upload the bytes, then confirm',
    next_best_method: `POST /v1/lockers/${lockerId}/files`,
    filename,
  })
}

/** The object stays. The file stays unconfirmed until other bytes are uploaded. */
export function hashMismatch(filename: string, expected: string, actual: string): ServiceError {
  return uploadError('HASH_MISMATCH', 'the bytes do not match expected_hash', {
    layer: 'provider',
    recovery_hint: 'upload the correct bytes with the same upload_url, then confirm again',
    next_best_method: 'PUT upload_url',
    filename,
    expected,
    actual,
  })
}

/** After each read of the bytes, the file pointed at different bytes. */
export function keepsChanging(filename: string): ServiceError {
  return uploadError('CONTENT_HASH_CHANGED', 'the file was replaced repeatedly while its bytes were being read', {
    layer: 'gateway',
    recovery_hint: 'confirm again when no upload of the file is in progress',
    next_best_method: 'POST /v1/files/confirm',
    filename,
  })
}

/** For a provider that cannot limit a direct upload: the size is known only after arrival. */
export function directUploadTooLarge(filename: string, size: number, maxBytes: number): ServiceError {
  return uploadError(
    'UPLOAD_TOO_LARGE',
    `the upload has ${size} bytes and was removed; files are limited to ${maxBytes} bytes`,
    {
      layer: 'provider',
      recovery_hint: 'split the content into several files',
      next_best_method: 'POST /v1/lockers/{locker_id}/files',
      filename,
      max_bytes: maxBytes,
    },
  )
}

/** The upload took so long that the sweep removed its object. */
export function uploadAbandoned(): ServiceError {
  return uploadError('STORAGE_UNAVAILABLE', 'the upload took too long and was discarded', {
    layer: 'gateway',
    recovery_hint: 'upload again; on a slow connection, upload in parts',
    next_best_method: 'POST /v1/lockers/{locker_id}/upload-sessions',
  })
}

/** Converts a provider's error: the storage is unavailable, without details of the provider (T-139). */
export function storageError(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.reason === 'signing-denied') return signingDenied(error)
  return new ServiceError('STORAGE_UNAVAILABLE', 'the storage provider of this locker is unavailable at the moment', {
    hint: 'try again in a minute; nothing was changed',
    headers: { 'retry-after': '30' },
    details: {
      layer: 'provider',
      recovery_hint: 'nothing was stored; send the same request again later',
      next_best_method: 'the same',
    },
    cause: error,
  })
}

/** The only provider error with its own code (FILE-35). */
function signingDenied(cause: ProviderError): ServiceError {
  return new ServiceError('IAM_SIGNBLOB_PERMISSION_DENIED', 'the gateway is not permitted to sign storage URLs', {
    hint: "only the gateway's admin can resolve this, by permitting the gateway to sign or by sending the bytes through it",
    details: { layer: 'provider', recovery_hint: "contact the gateway's admin", next_best_method: 'none' },
    cause,
  })
}

export function keyRemoved(): ServiceError {
  return new ServiceError('SIGNATURE_INVALID', 'the signing key was removed while the request was being served', {
    hint: 'sign with the key that paid or a registered operator key',
  })
}
