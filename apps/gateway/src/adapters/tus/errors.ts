// Errors of the tus endpoint. Clients react to the status; the hint tells a person what to do next.

import { TUS_VERSION } from '@svc/api/tus'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { uploadError } from '../../files/errors.ts'

const CREATE = 'POST /v1/lockers/{locker_id}/tus'
const HEAD = 'HEAD /v1/tus/{upload_id}'

export function tokenInvalid(): ServiceError {
  const hint = 'request a token with POST /v1/lockers/{locker_id}/tus/tokens, and send it as X-Upload-Token'
  return new ServiceError('UPLOAD_TOKEN_INVALID', 'this token is not valid for uploads to this locker', {
    hint,
    details: { layer: 'gateway', recovery_hint: hint, next_best_method: 'POST /v1/lockers/{locker_id}/tus/tokens' },
  })
}

export function versionUnsupported(): ServiceError {
  return new ServiceError('TUS_VERSION_UNSUPPORTED', `this gateway speaks tus ${TUS_VERSION}`, {
    hint: `send Tus-Resumable: ${TUS_VERSION}`,
    headers: { 'tus-version': TUS_VERSION },
  })
}

export function uploadNotFound(): ServiceError {
  return uploadError('TUS_UPLOAD_NOT_FOUND', 'this upload does not exist or has expired', {
    layer: 'gateway',
    recovery_hint: 'create another upload',
    next_best_method: CREATE,
  })
}

export function uploadGone(): ServiceError {
  return uploadError('TUS_UPLOAD_GONE', 'this upload has expired, was deleted, or its access was revoked', {
    layer: 'gateway',
    recovery_hint: 'create another upload',
    next_best_method: CREATE,
  })
}

/** For tokens that may only create new names. */
export function nameTaken(filename: string): ServiceError {
  return uploadError('PRECONDITION_FAILED', 'a file with this name already exists, and the token may not replace it', {
    layer: 'gateway',
    recovery_hint: 'create an upload with another filename, or request a token with "overwrite": true',
    next_best_method: CREATE,
    filename,
  })
}

export function uploadFinished(message: string): ServiceError {
  return uploadError('TUS_UPLOAD_FINISHED', message, {
    layer: 'gateway',
    recovery_hint: 'nothing is left to upload; delete the file in its locker if you do not want it',
    next_best_method: 'none',
  })
}

export function offsetMismatch(offset: number): ServiceError {
  return new ServiceError('TUS_OFFSET_MISMATCH', `the offset of the upload is ${offset}`, {
    hint: 'read the offset with HEAD, and continue from there',
    headers: { 'upload-offset': `${offset}` },
    details: {
      layer: 'gateway',
      recovery_hint: 'read the offset with HEAD, and continue from there',
      next_best_method: HEAD,
      offset,
    },
  })
}

/** Another request has continued the upload. The bytes that this one sent are stored. */
export function interrupted(): ServiceError {
  return uploadError('TUS_OFFSET_MISMATCH', 'another request has continued this upload', {
    layer: 'gateway',
    recovery_hint: 'read the offset with HEAD, and continue from there',
    next_best_method: HEAD,
  })
}

export function checksumMismatch(message: string, recovery_hint: string): ServiceError {
  return uploadError('TUS_CHECKSUM_MISMATCH', message, { layer: 'gateway', recovery_hint, next_best_method: HEAD })
}

export function concatInvalid(message: string): ServiceError {
  return uploadError('TUS_CONCAT_INVALID', message, {
    layer: 'gateway',
    recovery_hint: 'finish each partial upload, and list each of them once in Upload-Concat',
    next_best_method: CREATE,
  })
}

export function tooLong(maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `this upload is limited to ${maxBytes} bytes`, {
    layer: 'gateway',
    recovery_hint: 'send no more than Upload-Length; split larger content into several files',
    next_best_method: HEAD,
    max_bytes: maxBytes,
  })
}

export function wrongType(): ServiceError {
  return uploadError(
    'unsupported_media_type',
    'the Content-Type of an upload must be application/offset+octet-stream',
    {
      layer: 'gateway',
      recovery_hint: 'send Content-Type: application/offset+octet-stream',
      next_best_method: 'the same',
    },
  )
}

export function encodingRefused(): ServiceError {
  return uploadError('unsupported_encoding', 'uploads with a Content-Encoding are not supported', {
    layer: 'gateway',
    recovery_hint: 'send the bytes without Content-Encoding',
    next_best_method: 'the same',
  })
}

export function badHeader(name: string, msg: string): ValidationError {
  return new ValidationError({ loc: ['header', name], msg })
}
