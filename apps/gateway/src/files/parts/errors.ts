// Errors of upload sessions. Each says what to do next (SESS-06).

import { ServiceError } from '@svc/service/service-error'
import { isCapacityExceeded } from '../../lockers/quota.ts'
import { uploadError } from '../errors.ts'

const OPEN_ANOTHER = 'POST /v1/lockers/{locker_id}/upload-sessions'
const SEND_PART = 'POST /v1/upload-sessions/{session_id}/files/{file_id}/parts'
const READ_SESSION = 'GET /v1/upload-sessions/{session_id}'

export function uploadTokenInvalid(): ServiceError {
  const hint = 'send the upload_token that the session was opened with, as X-Upload-Token or as a bearer token'
  return new ServiceError('UPLOAD_TOKEN_INVALID', 'this is not the token of this upload session', {
    hint,
    headers: { 'www-authenticate': 'Bearer' },
    details: { layer: 'gateway', recovery_hint: hint, next_best_method: OPEN_ANOTHER },
  })
}

export function sessionNotFound(): ServiceError {
  return uploadError('SESSION_NOT_FOUND', 'there is no such upload session, or no longer', {
    layer: 'gateway',
    recovery_hint: 'open another session',
    next_best_method: OPEN_ANOTHER,
  })
}

export function sessionClosed(): ServiceError {
  return uploadError('SESSION_CLOSED', 'this upload session is at its end and takes no more parts', {
    layer: 'gateway',
    recovery_hint: 'read the session for what was stored; open another one for the rest',
    next_best_method: READ_SESSION,
  })
}

export function fileStored(): ServiceError {
  return uploadError('SESSION_CLOSED', 'this file is stored already and takes no more parts', {
    layer: 'gateway',
    recovery_hint: 'nothing is left to do for this file; to replace it, open another session',
    next_best_method: READ_SESSION,
  })
}

export function fileSealed(): ServiceError {
  return uploadError('SESSION_CLOSED', 'this file is being put together and takes no parts now', {
    layer: 'gateway',
    recovery_hint: 'finalize the session again to see the state of the file',
    next_best_method: READ_SESSION,
  })
}

export function fileNotInSession(): ServiceError {
  return uploadError('FILE_NOT_FOUND', 'there is no file with this id in the upload session', {
    layer: 'gateway',
    recovery_hint: 'use a file_id that the session was opened with',
    next_best_method: READ_SESSION,
  })
}

export function partTooLarge(maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `a part may have ${maxBytes} bytes`, {
    layer: 'gateway',
    recovery_hint: 'cut the file into smaller parts',
    next_best_method: SEND_PART,
    max_bytes: maxBytes,
  })
}

/** More than the declared size, or than any file may have. */
export function fileTooLarge(maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `the parts of this file may have ${maxBytes} bytes in all`, {
    layer: 'gateway',
    recovery_hint: 'send what was declared; open another session for a file of another size',
    next_best_method: OPEN_ANOTHER,
    max_bytes: maxBytes,
  })
}

export function partDiffers(expected: string, actual: string): ServiceError {
  return uploadError('HASH_MISMATCH', 'the part is not what its sha256 says', {
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
    recovery_hint: 'send JSON, or the bytes themselves as application/octet-stream with ?index=',
    next_best_method: SEND_PART,
  })
}

export function encodingRefused(): ServiceError {
  return uploadError('unsupported_encoding', 'request bodies are taken uncompressed only', {
    layer: 'gateway',
    recovery_hint: 'send the part without Content-Encoding, and chunked at most',
    next_best_method: SEND_PART,
  })
}

export function declaredTooLarge(filename: string, maxBytes: number): ServiceError {
  return uploadError('UPLOAD_TOO_LARGE', `a file may have ${maxBytes} bytes`, {
    layer: 'gateway',
    recovery_hint: 'split the content into several files',
    next_best_method: OPEN_ANOTHER,
    filename,
    max_bytes: maxBytes,
  })
}

/** Another file has the name, or none has it any more. */
export function otherFileThere(): ServiceError {
  return new ServiceError('PRECONDITION_FAILED', 'the file that is there is not the one that was to be replaced', {
    hint: 'look at the file that is there, and decide again',
  })
}

/** Which repeating does not change: a locker without room, or the wrong file to replace. The file stays open. */
export function isFinalRefusal(error: unknown): error is ServiceError {
  return isCapacityExceeded(error) || (error instanceof ServiceError && error.code === 'PRECONDITION_FAILED')
}
