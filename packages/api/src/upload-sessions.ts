// Uploads in parts, for clients that cannot send large or raw bodies, and for unreliable connections.

import Type, { type Static } from 'typebox'
import { endpoint, IN_PARTS, type UploadAdvice } from './endpoint.ts'
import { ContentHash, ContentType, Filename } from './file-entries.ts'
import { MAX_BATCH_BYTES } from './files.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, RESTRICTION_ERRORS, Timestamp, Words } from './wire.ts'

const Status = Words(['complete', 'partial', 'failed'])
const SessionPath = Type.Object({ session_id: Type.String() })
const TOKEN_ERRORS = ['UPLOAD_TOKEN_INVALID', 'SESSION_NOT_FOUND'] as const
/** The answer lists the missing parts. */
const READ_SESSION: UploadAdvice = { otherwise: 'GET /v1/upload-sessions/{session_id}' }
const MissingParts = Type.Array(Type.Integer(), { description: 'The first gaps below the highest index received.' })
const ViewerUrl = OrNull(
  Type.String({
    description:
      'Shows the files of this session until it expires: a page with the first file and a list of the others, or the bytes of the first file if the gateway has no pages. It gives no other access to the locker. Null while no file is stored, and after the session has expired.',
  }),
)

export const UploadSession = Type.Object(
  {
    session_id: Type.String(),
    upload_token: Type.String({ description: 'Shown only here. Send it as X-Upload-Token or as a bearer token.' }),
    status: Status,
    expires_at: Timestamp(),
    part_max_bytes: Type.Integer(),
    files: Type.Array(Type.Object({ file_id: Type.String(), filename: Type.String(), parts_url: Type.String() })),
    endpoints: Type.Object({ parts: Type.String(), finalize: Type.String(), status: Type.String() }),
  },
  { title: 'UploadSession' },
)
export type UploadSession = Static<typeof UploadSession>

export const openUploadSession = endpoint({
  name: 'openUploadSession',
  upload: IN_PARTS,
  method: 'POST',
  // If a session is opened twice, one remains unused and expires.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/upload-sessions',
  auth: { ops: ['locker:write'] },
  summary: 'Begin an upload in parts',
  params: Type.Object({ locker_id: Type.String() }),
  maxBodyBytes: MAX_BATCH_BYTES,
  body: Type.Object({
    receipt_id: Type.Optional(Type.String()),
    files: Type.Array(
      Type.Object({
        filename: Filename,
        content_type: Type.Optional(ContentType),
        size_bytes: Type.Optional(Type.Integer({ minimum: 0 })),
        expected_hash: Type.Optional(Type.String()),
        overwrite: Type.Optional(
          Type.Boolean({
            default: true,
            description:
              'If false and a file with this name exists by then, the file is not stored and the error is `PRECONDITION_FAILED`.',
          }),
        ),
      }),
      { minItems: 1, maxItems: 1000 },
    ),
    ttl_min: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1440,
        default: 1440,
        description: 'How many minutes parts are accepted.',
      }),
    ),
  }),
  responses: { 200: UploadSession },
  headers: NO_STORE,
  errors: [
    ...ENVELOPE_ERRORS,
    'locker_not_found',
    'receipt_is_renewal',
    'validation_error',
    'RATE_LIMITED',
    'UPLOAD_TOO_LARGE',
    'PRECONDITION_FAILED',
    'LOCKER_CAPACITY_EXCEEDED',
    ...RESTRICTION_ERRORS,
  ],
})

export const UploadedPart = Type.Object(
  {
    session_id: Type.String(),
    file_id: Type.String(),
    index: Type.Integer(),
    received_bytes: Type.Integer({ description: 'The bytes of this part.' }),
    total_received_bytes: Type.Integer({ description: 'The bytes of all parts of the file.' }),
    sha256: Type.Optional(
      Type.String({
        description: 'The hash of this part. For a large part in raw bytes, only if `sha256` was sent or requested.',
      }),
    ),
    status: Status,
  },
  { title: 'UploadedPart' },
)
export type UploadedPart = Static<typeof UploadedPart>

export const uploadPart = endpoint({
  name: 'uploadPart',
  upload: READ_SESSION,
  method: 'POST',
  // A repeated part replaces itself.
  repeatable: true,
  path: '/v1/upload-sessions/{session_id}/files/{file_id}/parts',
  auth: 'upload-token',
  summary: 'Upload one part: base64 in JSON, or raw bytes with ?index=; the same index again replaces it',
  params: Type.Object({ session_id: Type.String(), file_id: Type.String() }),
  query: Type.Object({
    index: Type.Optional(Type.Integer({ minimum: 0, maximum: 99_999 })),
    sha256: Type.Optional(
      Type.String({
        description: 'The SHA-256 in hex. A part that differs is refused. Without a value, it requests the hash.',
      }),
    ),
  }),
  body: Type.Object({
    index: Type.Integer({ minimum: 0, maximum: 99_999 }),
    data: Type.String({ description: 'base64' }),
    sha256: Type.Optional(Type.String()),
  }),
  takesBytes: true,
  responses: { 200: UploadedPart },
  headers: NO_STORE,
  errors: [
    ...TOKEN_ERRORS,
    'FILE_NOT_FOUND',
    'SESSION_CLOSED',
    'HASH_MISMATCH',
    'UPLOAD_TOO_LARGE',
    'LOCKER_CAPACITY_EXCEEDED',
    'RATE_LIMITED',
    ...RESTRICTION_ERRORS,
    'body_too_large',
    'unsupported_encoding',
    'unsupported_media_type',
    'malformed_request',
    'request_timeout',
    'validation_error',
    'STORAGE_UNAVAILABLE',
    'database_behind',
  ],
})

export const FinalizedUpload = Type.Object(
  {
    session_id: Type.String(),
    status: Status,
    files: Type.Array(
      Type.Union([
        Type.Object({
          file_id: Type.String(),
          filename: Type.String(),
          ok: Type.Literal(true),
          size_bytes: Type.Integer(),
          content_hash: ContentHash,
        }),
        Type.Object({
          file_id: Type.String(),
          filename: Type.String(),
          ok: Type.Literal(false),
          error: Type.String(),
          message: Type.String(),
          missing_parts: Type.Optional(MissingParts),
        }),
      ]),
    ),
    viewer_url: ViewerUrl,
  },
  { title: 'FinalizedUpload' },
)
export type FinalizedUpload = Static<typeof FinalizedUpload>

export const finalizeUpload = endpoint({
  name: 'finalizeUpload',
  upload: READ_SESSION,
  method: 'POST',
  // A finished session gives the same answer again.
  repeatable: true,
  path: '/v1/upload-sessions/{session_id}/finalize',
  auth: 'upload-token',
  summary: 'Assemble the files and record their hashes; a repeated call gives the same answer',
  params: SessionPath,
  responses: { 200: FinalizedUpload },
  headers: NO_STORE,
  errors: [
    ...TOKEN_ERRORS,
    'STORAGE_UNAVAILABLE',
    'LOCKER_CAPACITY_EXCEEDED',
    ...RESTRICTION_ERRORS,
    'database_behind',
  ],
})

export const UploadSessionStatus = Type.Object(
  {
    session_id: Type.String(),
    locker_id: Type.String(),
    status: Status,
    expires_at: Timestamp(),
    files: Type.Array(
      Type.Object({
        file_id: Type.String(),
        filename: Type.String(),
        received_bytes: Type.Integer(),
        parts: Type.Integer(),
        state: Words(['open', 'stored', 'failed']),
        missing_parts: MissingParts,
      }),
    ),
    viewer_url: ViewerUrl,
  },
  { title: 'UploadSessionStatus' },
)
export type UploadSessionStatus = Static<typeof UploadSessionStatus>

export const readUploadSession = endpoint({
  name: 'readUploadSession',
  upload: READ_SESSION,
  method: 'GET',
  path: '/v1/upload-sessions/{session_id}',
  auth: 'upload-token',
  summary: 'The progress of an upload',
  params: SessionPath,
  responses: { 200: UploadSessionStatus },
  headers: NO_STORE,
  errors: TOKEN_ERRORS,
})

export const finalizeUploadJob = endpoint({
  name: 'finalizeUploadJob',
  upload: READ_SESSION,
  method: 'POST',
  repeatable: false,
  path: '/v1/internal/jobs/finalize-upload',
  auth: 'internal',
  summary: 'Finalize an upload session, as the queue does',
  body: Type.Object({ session_id: Type.String() }),
  responses: { 200: FinalizedUpload },
  headers: NO_STORE,
  errors: [
    'INTERNAL_AUTH_REQUIRED',
    'SESSION_NOT_FOUND',
    'validation_error',
    'STORAGE_UNAVAILABLE',
    'LOCKER_CAPACITY_EXCEEDED',
    'database_behind',
  ],
})
