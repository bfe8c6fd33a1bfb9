// Errors of uploads tell which layer they come from and what to do next (FILE-31).

import type { ErrorBody, ErrorCode } from '@svc/api/errors'
import { type InvalidInput, ServiceError, ValidationError } from '@svc/http-service/service-error'

type Layer = 'app_orchestrator' | 'sandbox_runtime' | 'mcp' | 'gateway' | 'provider' | 'viewer'

interface UploadTrouble {
  layer: Layer
  recovery_hint: string
  next_best_method: string
  [more: string]: unknown
}

export function uploadError(code: ErrorCode, message: string, details: UploadTrouble): ServiceError {
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

/** A name is there, its bytes are not: never uploaded, or lost. */
export function contentNotFound(lockerId: string, filename: string): ServiceError {
  return uploadError('CONTENT_NOT_FOUND', 'the file is listed, but there are no bytes of it', {
    layer: 'provider',
    recovery_hint: 'create the file again for a fresh upload_url, upload, then confirm',
    next_best_method: `POST /v1/lockers/${lockerId}/files`,
    filename,
  })
}

/** The object stays, and the file stays unconfirmed until other bytes are put. */
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

/** At every look there were other bytes than those just read. */
export function keepsChanging(filename: string): ServiceError {
  return uploadError('CONTENT_HASH_CHANGED', 'the file was put anew each time its bytes had been read', {
    layer: 'gateway',
    recovery_hint: 'confirm again when no upload of the file is under way',
    next_best_method: 'POST /v1/files/confirm',
    filename,
  })
}

/** An upload that took longer than its object was kept for. */
export function uploadAbandoned(): ServiceError {
  return uploadError('STORAGE_UNAVAILABLE', 'the upload took too long, and was cleared away', {
    layer: 'gateway',
    recovery_hint: 'upload again; in parts where the line is slow',
    next_best_method: 'POST /v1/lockers/{locker_id}/upload-sessions',
  })
}

/** A 422 that says, as every error of uploads, what to do next. */
class InvalidUpload extends ValidationError {
  override body(requestId: string): ErrorBody {
    const details: UploadTrouble = {
      layer: 'gateway',
      recovery_hint: 'correct what detail names, and send the request again',
      next_best_method: 'the same',
    }
    return { ...super.body(requestId), details }
  }
}

export function invalidUpload(...inputs: [InvalidInput, ...InvalidInput[]]): ServiceError {
  return new InvalidUpload(...inputs)
}
