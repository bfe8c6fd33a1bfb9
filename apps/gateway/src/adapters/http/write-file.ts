import type { UploadedBytes } from '@svc/api/transfers'
import type { Bytes } from '@svc/service/http/answer'
import { bodyStream, requireBodyWithin } from '@svc/service/http/body-stream'
import type { WireRequest } from '@svc/service/http/wire-request'
import { type ServiceError, ValidationError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import { uploadError } from '../../files/errors.ts'
import { isSameMediaType } from '../../files/media-type.ts'
import { maxObjectBytes } from '../../files/objects.ts'
import { storeBytes } from '../../files/store-bytes.ts'
import { AccessEnded } from '../../lockers/access.ts'
import { invalidToken, type OpenedFile } from './open-token.ts'
import { redirectUpload } from './redirects.ts'

/** The file changes once the new bytes are complete and durable; until then none of them is visible. */
export async function writeByToken(
  context: Context,
  opened: OpenedFile,
  wire: WireRequest,
  { proxy }: { proxy?: string },
): Promise<UploadedBytes | Bytes> {
  const { locker, file, grant } = opened
  const maxBytes = maxObjectBytes(context, locker.provider)
  requireAcceptable(wire, file.upload_content_type, maxBytes)
  const length = wire.headers['content-length']
  const size = length === undefined ? null : Number(length)
  const redirect = proxy === '1' ? null : await redirectUpload(context, opened, size)
  if (redirect) return redirect
  const source = { open: () => bodyStream(wire, maxBytes), size, hash: 'later' } as const
  const { locker_id, filename, object_bytes } = await storeBytes(context, locker, source, {
    filename: file.filename,
    contentType: file.upload_content_type,
    expectedHash: file.upload_expected_hash,
    grant,
    mayCreate: false,
  }).catch((error) => {
    throw error instanceof AccessEnded ? invalidToken() : error
  })
  return { ok: true, locker_id, filename, size_bytes: object_bytes!, status: 'awaiting_confirmation' }
}

/** Rejects an upload by its headers, before the first byte. */
function requireAcceptable(wire: WireRequest, lockedType: string, maxBytes: number): void {
  const { headers } = wire
  if (!isSameMediaType(lockedType, headers['content-type'])) throw otherType(lockedType)
  if (!isPlain(headers['content-encoding'])) throw encoded()
  if (headers['content-range'] !== undefined) {
    throw new ValidationError({
      loc: ['header', 'Content-Range'],
      msg: 'Content-Range is not supported: upload the whole file, or use an upload session',
    })
  }
  requireBodyWithin(wire, maxBytes)
}

function isPlain(coding: string | undefined): boolean {
  return coding === undefined || coding.trim().toLowerCase() === 'identity'
}

function otherType(locked: string): ServiceError {
  return uploadError('CONTENT_TYPE_MISMATCH', `Content-Type is not ${locked}, the content type of the file`, {
    layer: 'gateway',
    recovery_hint: 'send the exact upload_headers, or create the file again with another content_type',
    next_best_method: 'PUT upload_url',
    expected: locked,
  })
}

function encoded(): ServiceError {
  return uploadError('unsupported_encoding', 'uploads with a Content-Encoding are not supported', {
    layer: 'gateway',
    recovery_hint: 'send the bytes without Content-Encoding',
    next_best_method: 'PUT upload_url',
  })
}
