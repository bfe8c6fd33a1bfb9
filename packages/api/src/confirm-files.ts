// Confirming files: the gateway reads their bytes and records their hashes.

import Type, { type Static } from 'typebox'
import { endpoint, IN_PARTS } from './endpoint.ts'
import { ContentHash } from './file-entries.ts'
import { MAX_BATCH_BYTES, MAX_FILES_PER_BATCH } from './files.ts'
import { ENVELOPE_ERRORS, NO_STORE, RESTRICTION_ERRORS, Timestamp, Words } from './wire.ts'

export const ConfirmedFile = Type.Object(
  {
    ok: Type.Literal(true),
    receipt_id: Type.String(),
    locker_id: Type.String(),
    filename: Type.String(),
    size_bytes: Type.Integer({ minimum: 0 }),
    content_hash: ContentHash,
    hash_recorded_at: Timestamp(),
  },
  { title: 'ConfirmedFile' },
)
export type ConfirmedFile = Static<typeof ConfirmedFile>

const CONFIRM_ERRORS = [
  ...ENVELOPE_ERRORS,
  'receipt_not_found',
  'locker_not_found',
  'receipt_is_renewal',
  'validation_error',
  'RATE_LIMITED',
  ...RESTRICTION_ERRORS,
] as const

export const confirmFile = endpoint({
  name: 'confirmFile',
  upload: IN_PARTS,
  method: 'POST',
  // A repeated call hashes the same bytes.
  repeatable: true,
  path: '/v1/files/confirm',
  auth: { ops: ['locker:write'], optional: true },
  summary: "Read a file's bytes and record their hash; with a query, or with a body and an envelope",
  query: Type.Object({ receipt_id: Type.Optional(Type.String()), filename: Type.Optional(Type.String()) }),
  body: Type.Object({ receipt_id: Type.Optional(Type.String()), filename: Type.Optional(Type.String()) }),
  responses: { 200: ConfirmedFile },
  headers: NO_STORE,
  errors: [
    ...CONFIRM_ERRORS,
    'FILE_NOT_FOUND',
    'CONTENT_NOT_FOUND',
    'UPLOAD_TOO_LARGE',
    'LOCKER_CAPACITY_EXCEEDED',
    'HASH_MISMATCH',
    'CONTENT_HASH_CHANGED',
    'STORAGE_UNAVAILABLE',
  ],
})

const NAMES = { minItems: 1, maxItems: MAX_FILES_PER_BATCH }
const Names = Type.Array(Type.String(), NAMES)
const NamesInQuery = Type.Array(Type.String(), {
  ...NAMES,
  description:
    'Path, query and headers are limited to 16 KiB together, about 300 names. A signed body holds up to 1,000.',
})

export const ConfirmedFiles = Type.Object(
  {
    receipt_id: Type.String(),
    locker_id: Type.String(),
    results: Type.Array(
      Type.Union([
        Type.Object({
          filename: Type.String(),
          ok: Type.Literal(true),
          size_bytes: Type.Integer(),
          content_hash: ContentHash,
        }),
        Type.Object({
          filename: Type.String(),
          ok: Type.Literal(false),
          error: Type.String(),
          message: Type.String(),
        }),
      ]),
    ),
    summary: Type.Object({ total: Type.Integer(), confirmed: Type.Integer(), failed: Type.Integer() }),
    reattest: Words(['queued', 'skipped', 'off']),
  },
  { title: 'ConfirmedFiles' },
)
export type ConfirmedFiles = Static<typeof ConfirmedFiles>

export const confirmFiles = endpoint({
  name: 'confirmFiles',
  upload: { ...IN_PARTS, inBody: 'POST /v1/files/confirm-batch with receipt_id and filenames in a signed JSON body' },
  method: 'POST',
  // A repeated call hashes the same bytes.
  repeatable: true,
  path: '/v1/files/confirm-batch',
  auth: { ops: ['locker:write'], optional: true },
  summary: 'Confirm many files; one failure does not affect the others',
  query: Type.Object({ receipt_id: Type.Optional(Type.String()), filenames: Type.Optional(NamesInQuery) }),
  maxBodyBytes: MAX_BATCH_BYTES,
  body: Type.Object({ receipt_id: Type.Optional(Type.String()), filenames: Type.Optional(Names) }),
  responses: { 200: ConfirmedFiles },
  headers: NO_STORE,
  errors: CONFIRM_ERRORS,
})
