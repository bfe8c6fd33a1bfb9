// Errors of upload sessions. Each names the next step (SESS-06).

import { ServiceError } from '@svc/service/service-error'
import { isCapacityExceeded } from '../../lockers/quota.ts'
import { uploadError } from '../errors.ts'

const OPEN_ANOTHER = 'POST /v1/lockers/{locker_id}/upload-sessions'
const SEND_PART = 'POST /v1/upload-sessions/{session_id}/files/{file_id}/parts'
const READ_SESSION = 'GET /v1/upload-sessions/{session_id}'

export function uploadTokenInvalid(): ServiceError {
  const hint = "send the session's upload_token as X-Upload-Token or as a bearer token"
  return new ServiceError('UPLOAD_TOKEN_INVALID', 'the token does not belong to this upload session', {
    hint,
    headers: { 'www-authenticate': 'Bearer' },
    details: { layer: 'gateway', recovery_hint: hint, next_best_method: OPEN_ANOTHER },
  })
}

export function sessionNotFound(): ServiceError {
  return uploadError('SESSION_NOT_FOUND', 'this upload session does not exist or was deleted', {
    layer: 'gateway',
    recovery_hint: 'open another session',
    next_best_method: OPEN_ANOTHER,
  })
}

export function sessionClosed(): ServiceError {
  return uploadError('SESSION_CLOSED', 'this upload session is closed and accepts no more parts', {
    layer: 'gateway',
    recovery_hint: 'read the session to see what was stored; open another session for the rest',
    next_best_method: READ_SESSION,
  })
}

export function fileStored(): ServiceError {
  return uploadError('SESSION_CLOSED', 'this file is already stored and accepts no more parts', {
    layer: 'gateway',
    recovery_hint: 'to replace the file, open another session',
    next_best_method: READ_SESSION,
  })
}

export function fileSealed(): ServiceError {
  return uploadError('SESSION_CLOSED', 'this file is being assembled and accepts no parts at the moment', {
    layer: 'gateway',
    recovery_hint: 'finalize the session again to see the state of the file',
    next_best_method: READ_SESSION,
  })
}

export function fileNotInSession(): ServiceError {
  return uploadError('FILE_NOT_FOUND', 'the upload session has no file with this id', {
    layer: 'gateway',
    recovery_hint: 'use a file_id from the response that opened the session',
    next_best_method: READ_SESSION,
  })
}

export function partTooLarge(maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `a part is limited to ${maxBytes} bytes`, {
    layer: 'gateway',
    recovery_hint: 'split the file into smaller parts',
    next_best_method: SEND_PART,
    max_bytes: maxBytes,
  })
}

/** The parts exceed the declared size or the limit for files. */
export function fileTooLarge(maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `the parts of this file are limited to ${maxBytes} bytes in total`, {
    layer: 'gateway',
    recovery_hint: 'send the declared number of bytes, or open another session for a file of another size',
    next_best_method: OPEN_ANOTHER,
    max_bytes: maxBytes,
  })
}

export function partDiffers(expected: string, actual: string): ServiceError {
  return uploadError('HASH_MISMATCH', 'the part does not match its sha256', {
    layer: 'gateway',
    recovery_hint: 'send the part again',
    next_best_method: SEND_PART,
    expected,
    actual,
  })
}

export function partUnreadable(message: string): ServiceError {
  return uploadError('unsupported_media_type', message, {
    layer: 'gateway',
    recovery_hint: 'send JSON, or raw bytes as application/octet-stream with ?index=',
    next_best_method: SEND_PART,
  })
}

export function encodingRefused(): ServiceError {
  return uploadError('unsupported_encoding', 'compressed request bodies are not supported', {
    layer: 'gateway',
    recovery_hint: 'send the part without Content-Encoding',
    next_best_method: SEND_PART,
  })
}

export function declaredTooLarge(filename: string, maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `files are limited to ${maxBytes} bytes`, {
    layer: 'gateway',
    recovery_hint: 'split the content into several files',
    next_best_method: OPEN_ANOTHER,
    filename,
    max_bytes: maxBytes,
  })
}

/** Another file has the name by now, or none has. */
export function wrongFileExists(): ServiceError {
  return new ServiceError('PRECONDITION_FAILED', 'the existing file is not the one that the upload may replace', {
    hint: 'read the existing file before you retry',
  })
}

/** Whether a retry would fail in the same way: an exceeded quota, or the wrong file to replace. The file stays open. */
export function isFinalRefusal(error: unknown): error is ServiceError {
  return isCapacityExceeded(error) || (error instanceof ServiceError && error.code === 'PRECONDITION_FAILED')
}
