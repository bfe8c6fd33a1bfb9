// The gateway's errors as S3 clients know them: an S3 code with our message and hint.

import type { ErrorCode } from '@svc/api/errors'
import { S3Error, type S3ErrorCode, s3Error } from '@svc/s3/errors'
import { writeXml } from '@svc/s3/xml'
import type { ErrorAnswer, RequestLine } from '@svc/service/http/foreign-protocol'
import { EVERY_ANSWER } from '@svc/service/http/send'
import { ServiceError } from '@svc/service/service-error'
import { AccessEnded } from '../../lockers/access.ts'
import { XML_TYPE } from './answers.ts'
import { accessEnded } from './caller.ts'

const CODES: Partial<Record<ErrorCode, S3ErrorCode>> = {
  malformed_request: 'InvalidRequest',
  validation_error: 'InvalidArgument',
  SIGNATURE_INVALID: 'AccessDenied',
  LOADED_AS_CODE: 'AccessDenied',
  LOCKER_FROZEN: 'AccessDenied',
  LOCKER_TAKEN_DOWN: 'AccessDenied',
  FILE_NOT_FOUND: 'NoSuchKey',
  CONTENT_NOT_FOUND: 'NoSuchKey',
  method_not_allowed: 'MethodNotAllowed',
  request_timeout: 'RequestTimeout',
  HASH_MISMATCH: 'BadDigest',
  PRECONDITION_FAILED: 'PreconditionFailed',
  body_too_large: 'MaxMessageLengthExceeded',
  UPLOAD_TOO_LARGE: 'EntityTooLarge',
  unsupported_encoding: 'NotImplemented',
  RANGE_NOT_SATISFIABLE: 'InvalidRange',
  expectation_failed: 'ExpectationFailed',
  headers_too_large: 'RequestHeaderSectionTooLarge',
  // S3 clients retry these after a pause.
  RATE_LIMITED: 'SlowDown',
  overloaded: 'SlowDown',
  database_unavailable: 'ServiceUnavailable',
  database_behind: 'ServiceUnavailable',
  logbook_unavailable: 'ServiceUnavailable',
  STORAGE_UNAVAILABLE: 'ServiceUnavailable',
  // A 403, as elsewhere: clients would retry a 5xx indefinitely.
  LOCKER_CAPACITY_EXCEEDED: 'QuotaExceeded',
}

/** Null for internal errors, which clients must not see. */
export function asS3Error(error: unknown): S3Error | null {
  if (error instanceof S3Error) return error
  if (error instanceof AccessEnded) return accessEnded()
  return error instanceof ServiceError ? fromService(error) : null
}

function fromService(error: ServiceError): S3Error {
  const code = CODES[error.code] ?? (error.status < 500 ? 'InvalidRequest' : 'InternalError')
  return s3Error(code, error.message, error.body('').hint, error.headers)
}

export function errorAnswer(
  { code, status, message, hint, headers }: S3Error,
  requestId: string,
  request: RequestLine,
): ErrorAnswer {
  const [Resource = ''] = (request.url ?? '').split('?', 1)
  const body = {
    Code: code,
    Message: message,
    ...(hint && { Hint: hint }),
    Resource,
    RequestId: requestId,
    HostId: requestId,
  }
  return {
    status,
    headers: { ...ERROR_HEADERS, ...idHeaders(requestId), ...headers },
    text: request.method === 'HEAD' ? '' : writeXml('Error', body),
  }
}

const ERROR_HEADERS = {
  ...EVERY_ANSWER,
  'content-type': XML_TYPE,
  'cache-control': 'no-store',
  // A presigned URL is a credential.
  'referrer-policy': 'no-referrer',
}

/** The header names that S3 clients expect. */
export function idHeaders(requestId: string): Record<string, string> {
  return { 'x-amz-request-id': requestId, 'x-amz-id-2': requestId }
}
