// The tus 1.0 protocol, for standard clients of resumable uploads. They send no envelope: a token, which is requested
// with an envelope, creates uploads, and the URL of an upload is enough to continue it.

import Type, { type Static } from 'typebox'
import { endpoint, type UploadAdvice } from './endpoint.ts'
import { ContentHash } from './file-entries.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, RESTRICTION_ERRORS, Timestamp, Words } from './wire.ts'

export const TUS_VERSION = '1.0.0'

const LockerPath = Type.Object({ locker_id: Type.String() })
const UploadPath = Type.Object({ upload_id: Type.String() })
const Empty = Type.String()
/** Every answer except to OPTIONS has the version. The URL gives access to the upload, so no other site may see it. */
const HEADERS = { ...NO_STORE, 'referrer-policy': 'no-referrer', 'tus-resumable': TUS_VERSION }
const OFFSET: UploadAdvice = { otherwise: 'HEAD /v1/tus/{upload_id}, and continue from Upload-Offset' }

const text = (description: string) => Type.Optional(Type.String({ description }))
const VERSION = { 'Tus-Resumable': text('1.0.0') }
const CHUNK = {
  ...VERSION,
  'Upload-Offset': text('Where the bytes begin: the number of bytes that the gateway already has.'),
  'Upload-Length': text('The length of an upload, if it was deferred.'),
  'Upload-Checksum': text('The algorithm and the checksum in base64. The body is stored only if the checksum matches.'),
}

export const TusToken = Type.Object(
  {
    tus_endpoint: Type.String({ description: 'The address for tus clients.' }),
    headers: Type.Object(
      { 'X-Upload-Token': Type.String() },
      { description: 'Headers to send when an upload is created. They may be sent with every request.' },
    ),
    expires_at: Timestamp('When the token stops creating uploads. Each upload then has a day to finish.'),
  },
  { title: 'TusToken' },
)
export type TusToken = Static<typeof TusToken>

export const createTusToken = endpoint({
  name: 'createTusToken',
  upload: { otherwise: 'POST /v1/lockers/{locker_id}/upload-sessions' },
  method: 'POST',
  // Tokens are not stored, so a second one does no harm.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/tus/tokens',
  auth: { ops: ['locker:write'] },
  summary: 'Get a token that lets tus clients upload into this locker',
  params: LockerPath,
  body: Type.Object({
    ttl_min: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1440,
        default: 60,
        description: 'How many minutes the token creates uploads.',
      }),
    ),
    prefix: Type.Optional(
      Type.String({
        maxLength: 256,
        description:
          'A folder with its final slash, such as `inbox/`. It is put before every name, so uploads go only there.',
      }),
    ),
    overwrite: Type.Optional(
      Type.Boolean({
        description: 'Whether an upload may replace a file. The default is true without a prefix, and false with one.',
      }),
    ),
  }),
  responses: { 200: TusToken },
  headers: NO_STORE,
  errors: [
    ...ENVELOPE_ERRORS,
    'locker_not_found',
    'receipt_is_renewal',
    'validation_error',
    'RATE_LIMITED',
    ...RESTRICTION_ERRORS,
  ],
})

const WRITE_ERRORS = [
  'TUS_VERSION_UNSUPPORTED',
  'TUS_CHECKSUM_MISMATCH',
  'PRECONDITION_FAILED',
  'UPLOAD_TOO_LARGE',
  'LOCKER_CAPACITY_EXCEEDED',
  'RATE_LIMITED',
  ...RESTRICTION_ERRORS,
  'unsupported_encoding',
  'unsupported_media_type',
  'malformed_request',
  'request_timeout',
  'validation_error',
  'STORAGE_UNAVAILABLE',
  'database_behind',
] as const

export const createTusUpload = endpoint({
  name: 'createTusUpload',
  upload: OFFSET,
  method: 'POST',
  // If an upload is created twice, one remains unused and expires.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/tus',
  auth: 'upload-token',
  summary: 'tus: create an upload, optionally with its first bytes, or join partial uploads',
  params: LockerPath,
  requestHeaders: Type.Object({
    ...VERSION,
    'Upload-Length': text('Bytes.'),
    'Upload-Defer-Length': text('1: the length is sent later.'),
    'Upload-Metadata': text('filename, filetype, relativePath, expected_hash; each followed by its value in base64.'),
    'Upload-Concat': text('partial, or final;<URLs of partial uploads>'),
    'Upload-Checksum': CHUNK['Upload-Checksum'],
  }),
  takesBytes: true,
  responses: { 201: Empty },
  headers: HEADERS,
  errorHeaders: true,
  errors: ['UPLOAD_TOKEN_INVALID', 'TUS_CONCAT_INVALID', 'TUS_OFFSET_MISMATCH', 'TUS_UPLOAD_GONE', ...WRITE_ERRORS],
})

export const TusUpload = Type.Object(
  {
    state: Words(['open', 'stored', 'joined']),
    offset: Type.Integer({ description: 'The number of bytes that are durably stored.' }),
    length: OrNull(Type.Integer({ description: 'Null while the length is deferred.' })),
    expires_at: Timestamp(),
    filename: OrNull(Type.String({ description: 'The name in the locker. Null for a partial upload.' })),
    content_hash: OrNull(ContentHash),
  },
  { title: 'TusUpload' },
)
export type TusUpload = Static<typeof TusUpload>

const UPLOAD_ERRORS = ['TUS_UPLOAD_NOT_FOUND', 'TUS_UPLOAD_GONE'] as const

export const readTusUpload = endpoint({
  name: 'readTusUpload',
  upload: OFFSET,
  method: 'GET',
  path: '/v1/tus/{upload_id}',
  auth: 'path-token',
  summary: 'tus: the progress of an upload (HEAD); GET returns it as JSON',
  head: true,
  params: UploadPath,
  requestHeaders: Type.Object(VERSION),
  responses: { 200: TusUpload },
  headers: HEADERS,
  errors: [
    ...UPLOAD_ERRORS,
    'TUS_VERSION_UNSUPPORTED',
    'TUS_CHECKSUM_MISMATCH',
    'PRECONDITION_FAILED',
    'LOCKER_CAPACITY_EXCEEDED',
    ...RESTRICTION_ERRORS,
    'STORAGE_UNAVAILABLE',
    'database_behind',
  ],
})

const CHUNK_ERRORS = [...UPLOAD_ERRORS, 'TUS_UPLOAD_FINISHED', 'TUS_OFFSET_MISMATCH', ...WRITE_ERRORS] as const

export const writeTusUpload = endpoint({
  name: 'writeTusUpload',
  upload: OFFSET,
  method: 'PATCH',
  path: '/v1/tus/{upload_id}',
  auth: 'path-token',
  summary: 'tus: send the next bytes of an upload; bytes that arrive before a connection breaks are stored',
  params: UploadPath,
  requestHeaders: Type.Object(CHUNK),
  takesBytes: true,
  responses: { 204: Empty },
  headers: HEADERS,
  errors: CHUNK_ERRORS,
})

export const terminateTusUpload = endpoint({
  name: 'terminateTusUpload',
  upload: OFFSET,
  method: 'DELETE',
  path: '/v1/tus/{upload_id}',
  auth: 'path-token',
  summary: 'tus: cancel an upload',
  params: UploadPath,
  requestHeaders: Type.Object(VERSION),
  responses: { 204: Empty },
  headers: HEADERS,
  errors: [
    ...UPLOAD_ERRORS,
    'TUS_UPLOAD_FINISHED',
    'TUS_VERSION_UNSUPPORTED',
    ...RESTRICTION_ERRORS,
    'database_behind',
  ],
})

export const overrideTusMethod = endpoint({
  name: 'overrideTusMethod',
  upload: OFFSET,
  method: 'POST',
  // A chunk that arrived has moved the offset, so a repeated one is refused.
  repeatable: true,
  path: '/v1/tus/{upload_id}',
  auth: 'path-token',
  summary: 'tus: PATCH or DELETE, for environments that cannot send these methods',
  params: UploadPath,
  requestHeaders: Type.Object({ ...CHUNK, 'X-HTTP-Method-Override': text('PATCH or DELETE.') }),
  takesBytes: true,
  responses: { 204: Empty },
  headers: HEADERS,
  errors: CHUNK_ERRORS,
})
