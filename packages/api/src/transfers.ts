// File bytes: uploads and downloads through short URLs, and downloads through the public link of a receipt.

import Type, { type Static } from 'typebox'
import { endpoint, IN_PARTS } from './endpoint.ts'
import { FileDeleted } from './files.ts'
import { RESTRICTION_ERRORS } from './wire.ts'

const TokenPath = Type.Object({ token: Type.String() })
const TOKEN_ERRORS = ['SHORT_URL_INVALID', 'SHORT_URL_EXPIRED', 'FILE_NOT_FOUND'] as const
/** Of every endpoint that answers the bytes of a file. */
export const BYTES_ERRORS = [
  'CONTENT_NOT_FOUND',
  'LOADED_AS_CODE',
  'PRECONDITION_FAILED',
  'RANGE_NOT_SATISFIABLE',
  'STORAGE_UNAVAILABLE',
] as const
export const OnCondition = Type.Object(
  Object.fromEntries(
    ['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Unmodified-Since', 'If-Modified-Since'].map((name) => [
      name,
      Type.Optional(Type.String()),
    ]),
  ),
)
const Bytes = Type.String({ contentMediaType: 'application/octet-stream' })
export const READ_ANSWERS = { 200: Bytes, 206: Bytes, 304: Type.String() }
export const ANY_TYPE = '*/*'
/** Anyone who sees a short URL or a share's address can use it, so it must not be cached or sent as a referrer. */
export const PRIVATE = { 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' }

export const readByToken = endpoint({
  name: 'readByToken',
  method: 'GET',
  path: '/f/{token}',
  auth: 'path-token',
  summary: 'Download a file; supports ranges and conditions',
  head: true,
  params: TokenPath,
  requestHeaders: OnCondition,
  responses: { ...READ_ANSWERS, 307: Type.String() },
  headers: PRIVATE,
  contentType: ANY_TYPE,
  errors: [...TOKEN_ERRORS, ...BYTES_ERRORS, 'LOCKER_TAKEN_DOWN', 'IAM_SIGNBLOB_PERMISSION_DENIED'],
})

export const UploadedBytes = Type.Object(
  {
    ok: Type.Literal(true),
    locker_id: Type.String(),
    filename: Type.String(),
    size_bytes: Type.Integer({ minimum: 0 }),
    status: Type.Literal('awaiting_confirmation', {
      description: 'The bytes are stored. POST /v1/files/confirm records their hash.',
    }),
  },
  { title: 'UploadedBytes' },
)
export type UploadedBytes = Static<typeof UploadedBytes>

export const writeByToken = endpoint({
  name: 'writeByToken',
  method: 'PUT',
  path: '/f/{token}',
  auth: 'path-token',
  summary: 'Upload the bytes of a file, with the Content-Type that the file was created with',
  params: TokenPath,
  query: Type.Object({
    proxy: Type.Optional(Type.String({ description: '1: never redirect; send the bytes through the gateway.' })),
  }),
  takesBytes: true,
  responses: { 200: UploadedBytes, 307: Type.String() },
  headers: PRIVATE,
  errors: [
    ...TOKEN_ERRORS,
    'CONTENT_TYPE_MISMATCH',
    'UPLOAD_TOO_LARGE',
    'LOCKER_CAPACITY_EXCEEDED',
    'RATE_LIMITED',
    ...RESTRICTION_ERRORS,
    'unsupported_encoding',
    'validation_error',
    'malformed_request',
    'request_timeout',
    'STORAGE_UNAVAILABLE',
    'IAM_SIGNBLOB_PERMISSION_DENIED',
    'database_behind',
  ],
  upload: IN_PARTS,
})

export const deleteByToken = endpoint({
  name: 'deleteByToken',
  method: 'DELETE',
  path: '/f/{token}',
  auth: 'path-token',
  summary: 'Remove a file from its locker',
  params: TokenPath,
  responses: { 200: FileDeleted },
  headers: PRIVATE,
  errors: [...TOKEN_ERRORS, ...RESTRICTION_ERRORS, 'database_behind'],
})

export const readPublicly = endpoint({
  name: 'readPublicly',
  method: 'GET',
  path: '/v1/r/{receipt_id}/f/{+filename}',
  auth: 'public',
  summary: "Download a file by the receipt, or by the public link's id if the owner has rotated the link",
  head: true,
  params: Type.Object({ receipt_id: Type.String(), filename: Type.String() }),
  requestHeaders: OnCondition,
  responses: READ_ANSWERS,
  contentType: ANY_TYPE,
  errors: [
    'receipt_not_found',
    'locker_not_found',
    'receipt_is_renewal',
    'FILE_NOT_FOUND',
    ...BYTES_ERRORS,
    'LOCKER_TAKEN_DOWN',
  ],
})
