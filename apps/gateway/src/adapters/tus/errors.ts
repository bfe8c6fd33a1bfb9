// Errors of the tus endpoint. Clients of tus go by the status; each also says in words what to do next.

import { TUS_VERSION } from '@svc/api/tus'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { uploadError } from '../../files/errors.ts'

const CREATE = 'POST /v1/lockers/{locker_id}/tus'
const HEAD = 'HEAD /v1/tus/{upload_id}'

export function tokenInvalid(): ServiceError {
  const hint = 'ask for a token with POST /v1/lockers/{locker_id}/tus/tokens, and send it as X-Upload-Token'
  return new ServiceError('UPLOAD_TOKEN_INVALID', 'this token does not upload into this locker, or no longer does', {
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
  return uploadError('TUS_UPLOAD_NOT_FOUND', 'there is no such upload, or no longer', {
    layer: 'gateway',
    recovery_hint: 'create another upload',
    next_best_method: CREATE,
  })
}

export function uploadGone(): ServiceError {
  return uploadError('TUS_UPLOAD_GONE', 'this upload has expired, was given up, or its access was ended', {
    layer: 'gateway',
    recovery_hint: 'create another upload',
    next_best_method: CREATE,
  })
}

/** For tokens that create new names only. */
export function nameTaken(filename: string): ServiceError {
  return uploadError('PRECONDITION_FAILED', 'there is a file of this name already, which the token may not replace', {
    layer: 'gateway',
    recovery_hint: 'create an upload with another filename; or ask for a token with "overwrite": true',
    next_best_method: CREATE,
    filename,
  })
}

export function uploadFinished(message: string): ServiceError {
  return uploadError('TUS_UPLOAD_FINISHED', message, {
    layer: 'gateway',
    recovery_hint: 'nothing is left to do here; files are deleted in their locker',
    next_best_method: 'none',
  })
}

export function offsetMismatch(offset: number): ServiceError {
  return new ServiceError('TUS_OFFSET_MISMATCH', `the upload is at ${offset}`, {
    hint: 'ask for the offset with HEAD, and go on from there',
    headers: { 'upload-offset': `${offset}` },
    details: {
      layer: 'gateway',
      recovery_hint: 'ask for the offset with HEAD, and go on from there',
      next_best_method: HEAD,
      offset,
    },
  })
}

/** Another request goes on with the upload; what this one has brought is kept. */
export function interrupted(): ServiceError {
  return uploadError('TUS_OFFSET_MISMATCH', 'another request went on with this upload', {
    layer: 'gateway',
    recovery_hint: 'ask for the offset with HEAD, and go on from there',
    next_best_method: HEAD,
  })
}

export function checksumMismatch(message: string, recovery_hint: string): ServiceError {
  return uploadError('TUS_CHECKSUM_MISMATCH', message, { layer: 'gateway', recovery_hint, next_best_method: HEAD })
}

export function concatInvalid(message: string): ServiceError {
  return uploadError('TUS_CONCAT_INVALID', message, {
    layer: 'gateway',
    recovery_hint: 'finish each partial upload, and name each of them once in Upload-Concat',
    next_best_method: CREATE,
  })
}

export function tooLong(maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `this upload may have ${maxBytes} bytes`, {
    layer: 'gateway',
    recovery_hint: 'send no more than Upload-Length; split larger content into several files',
    next_best_method: HEAD,
    max_bytes: maxBytes,
  })
}

export function wrongType(): ServiceError {
  return uploadError('unsupported_media_type', 'the bytes of an upload are application/offset+octet-stream', {
    layer: 'gateway',
    recovery_hint: 'send Content-Type: application/offset+octet-stream',
    next_best_method: 'the same',
  })
}

export function encodingRefused(): ServiceError {
  return uploadError('unsupported_encoding', 'uploads are taken as they are to be kept, not compressed', {
    layer: 'gateway',
    recovery_hint: 'send the bytes without Content-Encoding',
    next_best_method: 'the same',
  })
}

export function badHeader(name: string, msg: string): ValidationError {
  return new ValidationError({ loc: ['header', name], msg })
}
