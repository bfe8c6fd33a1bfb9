// What an upload must be like, as its headers tell it before the first byte.

import { requireBodyWithin } from '@svc/http-service/body-stream'
import type { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { invalidUpload, uploadError } from '../files/errors.ts'
import { isSameMediaType } from '../files/media-type.ts'

export function requireAcceptable(wire: WireRequest, lockedType: string, maxBytes: number): void {
  const { headers } = wire
  if (!isSameMediaType(lockedType, headers['content-type'])) throw otherType(lockedType)
  if (!isPlain(headers['content-encoding'], 'identity')) throw encoded('Content-Encoding')
  if (!isPlain(headers['transfer-encoding'], 'chunked')) throw encoded('Transfer-Encoding')
  if (headers['content-range'] !== undefined) {
    throw invalidUpload({ loc: ['header', 'Content-Range'], msg: 'a file is uploaded whole, or in an upload session' })
  }
  requireBodyWithin(wire, maxBytes)
}

function isPlain(coding: string | undefined, plain: string): boolean {
  return coding === undefined || coding.trim().toLowerCase() === plain
}

function otherType(locked: string): ServiceError {
  return uploadError('CONTENT_TYPE_MISMATCH', 'Content-Type is not the one the file was created with', {
    layer: 'gateway',
    recovery_hint: 'send upload_headers as they were given; or create the file again with another content_type',
    next_best_method: 'PUT upload_url',
    expected: locked,
  })
}

function encoded(header: string): ServiceError {
  return uploadError('unsupported_encoding', 'uploads are taken as they are to be kept, not compressed', {
    layer: 'gateway',
    recovery_hint: `send the bytes without ${header}`,
    next_best_method: 'PUT upload_url',
  })
}
