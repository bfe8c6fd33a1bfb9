// Files of a locker: create, list, delete, fetch.

import Type, { type Static } from 'typebox'
import { endpoint, IN_PARTS } from './endpoint.ts'
import {
  ContentHash,
  ContentType,
  DownloadUrls,
  FileEntry,
  Filename,
  FreshUrls,
  ManifestEntry,
  TtlMinutes,
  UrlPair,
  UrlSet,
  UrlsExpire,
} from './file-entries.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, Page, RESTRICTION_ERRORS, Timestamp, Words } from './wire.ts'

export const MAX_FILES_PER_BATCH = 1000
/** Fits a thousand entries with names, types and hashes of the maximum length. */
export const MAX_BATCH_BYTES = 1_048_576

const LockerPath = Type.Object({ locker_id: Type.String() })
const FilePath = Type.Object({ locker_id: Type.String(), filename: Type.String() })
const ERRORS = [...ENVELOPE_ERRORS, 'locker_not_found', 'receipt_is_renewal', 'validation_error'] as const

export const createFile = endpoint({
  name: 'createFile',
  upload: IN_PARTS,
  method: 'POST',
  repeatable: 'if-named',
  path: '/v1/lockers/{locker_id}/files',
  auth: { ops: ['locker:write'] },
  summary: 'Create a file entry, and get its upload and download URLs',
  params: LockerPath,
  body: Type.Object({
    filename: Type.Optional(Filename),
    content_type: Type.Optional(ContentType),
    ttl_min: Type.Optional(TtlMinutes),
    expected_hash: Type.Optional(
      Type.String({ description: 'The SHA-256 that the bytes must have. It is checked at confirmation.' }),
    ),
  }),
  responses: { 200: UrlSet },
  headers: NO_STORE,
  errors: [...ERRORS, 'RATE_LIMITED', 'LOCKER_CAPACITY_EXCEEDED', ...RESTRICTION_ERRORS],
})

export const createFiles = endpoint({
  name: 'createFiles',
  upload: IN_PARTS,
  method: 'POST',
  repeatable: 'if-named',
  path: '/v1/lockers/{locker_id}/files/batch',
  auth: { ops: ['locker:write'] },
  summary: 'Create many file entries, all or none',
  params: LockerPath,
  maxBodyBytes: MAX_BATCH_BYTES,
  body: Type.Object({
    ttl_min: Type.Optional(TtlMinutes),
    files: Type.Array(
      Type.Object({
        filename: Type.Optional(Filename),
        content_type: Type.Optional(ContentType),
        expected_hash: Type.Optional(Type.String()),
      }),
      { minItems: 1, maxItems: MAX_FILES_PER_BATCH },
    ),
  }),
  responses: {
    200: Type.Object(
      {
        locker_id: Type.String(),
        files: Type.Array(Type.Object({ ...UrlPair, urls_expire_in_sec: UrlsExpire })),
        count: Type.Integer(),
        urls_expire_in_sec: UrlsExpire,
      },
      { title: 'UrlSets' },
    ),
  },
  headers: NO_STORE,
  errors: [...ERRORS, 'RATE_LIMITED', 'LOCKER_CAPACITY_EXCEEDED', ...RESTRICTION_ERRORS],
})

export const FileList = Type.Object(
  {
    locker_id: Type.String(),
    files: Type.Array(FileEntry),
    count: Type.Integer({ description: 'The number of files in this answer.' }),
    folders: Type.Optional(
      Type.Array(Type.String(), {
        description: 'With `folders`: the folders under the prefix, each with its final slash.',
      }),
    ),
    outline: Type.Optional(
      Type.Object(
        {
          entries: Type.Integer({ description: 'The number of files in the list, plus folders if requested.' }),
          cursors: Type.Array(Type.String(), { description: 'Where each page from the second on begins.' }),
          truncated: Type.Optional(
            Type.Boolean({
              description:
                'True if the list continues after the last of these pages. `entries` then counts only up to there.',
            }),
          ),
        },
        { title: 'FileListOutline' },
      ),
    ),
    next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins. Absent on the last page.' })),
  },
  { title: 'FileList' },
)
export type FileList = Static<typeof FileList>

export const listFiles = endpoint({
  name: 'listFiles',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/files',
  auth: { ops: ['locker:list'] },
  summary: 'List the files of a locker, a folder or a search, in code-point order of their names',
  params: LockerPath,
  // With any parameter but the first two, the default `limit` is a thousand.
  query: Type.Object({
    ...Page,
    prefix: Type.Optional(Type.String({ maxLength: 512, description: 'Only names that begin with this.' })),
    folders: Type.Optional(
      Type.Boolean({
        description: 'Leaves out names with a slash after the prefix; the answer lists their folders instead.',
      }),
    ),
    search: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 512,
        description:
          'Only names that contain this, ignoring the case of A to Z. Cannot be combined with `folders` or `outline`.',
      }),
    ),
    outline: Type.Optional(
      Type.Boolean({
        description:
          'The answer also lists where each page of this size begins, so that any page can be read directly. Requires a `limit` of at least 100.',
      }),
    ),
  }),
  responses: { 200: FileList },
  headers: NO_STORE,
  hasNoSecrets: true,
  errors: ERRORS,
})

export const getFile = endpoint({
  name: 'getFile',
  upload: IN_PARTS,
  method: 'GET',
  path: '/v1/lockers/{locker_id}/files/{+filename}',
  auth: { ops: ['locker:read'] },
  summary: 'Get fresh URLs for a file that has bytes',
  params: FilePath,
  query: Type.Object({ ttl_min: Type.Optional(TtlMinutes) }),
  responses: { 200: FreshUrls },
  headers: NO_STORE,
  errors: [
    ...ERRORS,
    'FILE_NOT_FOUND',
    'CONTENT_NOT_FOUND',
    'RATE_LIMITED',
    'STORAGE_UNAVAILABLE',
    ...RESTRICTION_ERRORS,
  ],
})

export const FileDeleted = Type.Object(
  {
    ok: Type.Literal(true),
    locker_id: Type.String(),
    filename: Type.String(),
    deleted: Type.Literal(true),
    bytes_removed: Type.Boolean({
      description: 'False if the provider never deletes data, or could not be reached.',
    }),
  },
  { title: 'FileDeleted' },
)
export type FileDeleted = Static<typeof FileDeleted>

export const deleteFile = endpoint({
  name: 'deleteFile',
  upload: IN_PARTS,
  method: 'DELETE',
  path: '/v1/lockers/{locker_id}/files/{+filename}',
  auth: { ops: ['locker:write'] },
  summary: 'Remove a file from its locker',
  params: FilePath,
  query: Type.Object({
    expected_hash: Type.Optional(
      Type.String({ description: 'The SHA-256 that the file must have; otherwise the answer is 412.' }),
    ),
    expected_uploaded_at: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          'The `uploaded_at` that the file must have, as listed, or `none` if it has no bytes; otherwise the answer is 412.',
      }),
    ),
  }),
  responses: { 200: FileDeleted },
  headers: NO_STORE,
  errors: [...ERRORS, 'FILE_NOT_FOUND', 'PRECONDITION_FAILED', ...RESTRICTION_ERRORS],
})

export const FilesRenamed = Type.Object(
  {
    ok: Type.Literal(true),
    locker_id: Type.String(),
    files: Type.Array(
      Type.Object({
        filename: Type.String(),
        new_filename: Type.String(),
        size_bytes: OrNull(Type.Integer()),
        content_hash: OrNull(ContentHash),
        replaced: Type.Boolean({ description: 'Whether another file with the new name was replaced.' }),
      }),
    ),
    count: Type.Integer(),
    reattest: Words(['queued', 'skipped', 'off']),
  },
  { title: 'FilesRenamed' },
)
export type FilesRenamed = Static<typeof FilesRenamed>

export const renameFiles = endpoint({
  name: 'renameFiles',
  method: 'POST',
  // A repeated call finds no file with the old name, and changes nothing.
  repeatable: true,
  path: '/v1/lockers/{locker_id}/files/rename',
  auth: { ops: ['locker:write'] },
  summary: 'Rename files, all or none; their bytes and hashes do not change',
  params: LockerPath,
  maxBodyBytes: 2 * MAX_BATCH_BYTES,
  body: Type.Object({
    overwrite: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether existing files with the new names are replaced.' }),
    ),
    files: Type.Array(
      Type.Object({
        filename: Filename,
        new_filename: Filename,
        expected_hash: Type.Optional(
          Type.String({ description: 'The SHA-256 that the file must have; otherwise the answer is 412.' }),
        ),
      }),
      { minItems: 1, maxItems: MAX_FILES_PER_BATCH },
    ),
  }),
  responses: { 200: FilesRenamed },
  headers: NO_STORE,
  errors: [
    ...ERRORS,
    'FILE_NOT_FOUND',
    'CONTENT_HASH_CHANGED',
    'PRECONDITION_FAILED',
    'STORAGE_UNAVAILABLE',
    ...RESTRICTION_ERRORS,
  ],
})

export const fileUrls = endpoint({
  name: 'fileUrls',
  method: 'POST',
  // The call only reads.
  repeatable: true,
  whileBehind: 'served',
  path: '/v1/lockers/{locker_id}/files/urls',
  auth: { ops: ['locker:read'] },
  summary: 'Get download URLs for the named files; counts once against the rate limit of URLs',
  params: LockerPath,
  maxBodyBytes: MAX_BATCH_BYTES,
  body: Type.Object({
    filenames: Type.Array(Type.String({ minLength: 1, maxLength: 512 }), { maxItems: MAX_FILES_PER_BATCH }),
    ttl_min: Type.Optional(TtlMinutes),
  }),
  responses: { 200: DownloadUrls },
  headers: NO_STORE,
  errors: [...ERRORS, 'RATE_LIMITED', ...RESTRICTION_ERRORS],
})

export const Manifest = Type.Object(
  {
    locker_id: Type.String(),
    receipt_id: Type.String(),
    manifest_version: Type.Integer({ description: 'Increases with every change of names, sizes or hashes.' }),
    updated_at: Timestamp(),
    file_count: Type.Integer(),
    total_bytes: Type.Integer({ description: 'The size of all confirmed files.' }),
    files: Type.Array(ManifestEntry),
    next_cursor: Type.Optional(Type.String()),
    changed_while_reading: Type.Optional(
      Type.Boolean({
        description: 'In an answer of many pages: whether the manifest changed while it was being sent.',
      }),
    ),
  },
  { title: 'Manifest' },
)
export type Manifest = Static<typeof Manifest>

export const readManifest = endpoint({
  name: 'readManifest',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/manifest',
  auth: { ops: ['locker:read'] },
  summary: 'All details of every file',
  params: LockerPath,
  query: Type.Object(Page),
  responses: { 200: Manifest },
  headers: NO_STORE,
  errors: ERRORS,
})

export const FetchedFile = Type.Object(
  {
    ok: Type.Literal(true),
    locker_id: Type.String(),
    receipt_id: Type.String(),
    filename: Type.String(),
    size_bytes: Type.Integer(),
    content_hash: ContentHash,
    content_type: Type.String(),
    source_url: Type.String(),
    stored_at: Timestamp(),
    download_url: Type.String(),
    urls_expire_in_sec: UrlsExpire,
  },
  { title: 'FetchedFile' },
)
export type FetchedFile = Static<typeof FetchedFile>

export const fetchAndStore = endpoint({
  name: 'fetchAndStore',
  upload: IN_PARTS,
  method: 'POST',
  repeatable: 'if-named',
  path: '/v1/files/fetch-and-store',
  auth: { ops: ['locker:write'] },
  summary: 'Fetch a public https URL into a file',
  maxBodyBytes: 16_384,
  body: Type.Object({
    locker_id: Type.Optional(Type.String()),
    receipt_id: Type.Optional(Type.String()),
    source_url: Type.String({ maxLength: 4096 }),
    filename: Type.Optional(Filename),
    content_type: Type.Optional(ContentType),
    overwrite: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'If false and a file with this name exists by then, nothing is stored and the answer is `PRECONDITION_FAILED`.',
      }),
    ),
  }),
  responses: { 200: FetchedFile },
  headers: NO_STORE,
  errors: [
    ...ERRORS,
    'PRECONDITION_FAILED',
    'RATE_LIMITED',
    'UPLOAD_TOO_LARGE',
    'STORAGE_UNAVAILABLE',
    'LOCKER_CAPACITY_EXCEEDED',
    ...RESTRICTION_ERRORS,
  ],
})
