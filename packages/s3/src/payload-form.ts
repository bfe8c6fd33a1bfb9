// How a body is sent, and what the head's signature covers of it: `x-amz-content-sha256`.

import { s3Error } from './errors.ts'

export type PayloadForm = {
  /** As sent, because that is what was signed. */
  text: string
} & (
  | { kind: 'hashed'; sha256: string }
  | { kind: 'unsigned' }
  | { kind: 'chunked'; isSigned: boolean; hasTrailer: boolean }
)

export function readPayloadForm(text: string): PayloadForm {
  switch (text) {
    case 'UNSIGNED-PAYLOAD':
      return { text, kind: 'unsigned' }
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD':
      return { text, kind: 'chunked', isSigned: true, hasTrailer: false }
    case 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER':
      return { text, kind: 'chunked', isSigned: true, hasTrailer: true }
    case 'STREAMING-UNSIGNED-PAYLOAD-TRAILER':
      return { text, kind: 'chunked', isSigned: false, hasTrailer: true }
  }
  if (/^[0-9a-f]{64}$/i.test(text)) return { text, kind: 'hashed', sha256: text.toLowerCase() }
  if (text.startsWith('STREAMING-AWS4-ECDSA')) {
    throw s3Error(
      'NotImplemented',
      'chunks with signatures of version 4A are not supported',
      'sign with AWS4-HMAC-SHA256',
    )
  }
  throw s3Error('InvalidArgument', 'x-amz-content-sha256 is UNSIGNED-PAYLOAD, a STREAMING-… form, or a SHA-256 in hex')
}
