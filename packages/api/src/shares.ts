// Shares: each opens one file or one folder of a locker to anyone who has its address, without revealing the receipt.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { RedactedBundle } from './proofs.ts'
import { ANY_TYPE, BYTES_ERRORS, OnCondition, PRIVATE, READ_ANSWERS } from './transfers.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, Page, RESTRICTION_ERRORS, Sha256, Timestamp, Words } from './wire.ts'

export const MAX_SHARES = 1000
export const MAX_SHARE_HOURS = 87_600
export const DEFAULT_SHARE_HOURS = 168

const Kind = Words(['file', 'folder'])
const Expiry = OrNull(Timestamp('Null for a share that does not expire.'))
const LockerPath = Type.Object({ locker_id: Type.String() })
const LOCKER_ERRORS = [...ENVELOPE_ERRORS, 'locker_not_found', 'receipt_is_renewal', 'validation_error'] as const

export const Share = Type.Object(
  {
    id: Type.String({ description: 'Opens the share, as its URL does.' }),
    url: Type.String({ description: 'For people and programs: see GET /s/{share_id}.' }),
    path: Type.String({ description: 'The name of a file, or a folder with its final `/`.' }),
    kind: Kind,
    label: OrNull(Type.String({ description: 'Shown only to those who may read the locker.' })),
    created_at: Timestamp(),
    created_by: Type.String({ description: 'The key that created it. The share ends when the key loses its access.' }),
    expires_at: Expiry,
    last_used_at: OrNull(Timestamp('Accurate to the hour. Null for a share that was never used.')),
  },
  { title: 'Share' },
)
export type Share = Static<typeof Share>

export const ShareList = Type.Object(
  { locker_id: Type.String(), shares: Type.Array(Share), count: Type.Integer() },
  { title: 'ShareList' },
)
export type ShareList = Static<typeof ShareList>

export const createShare = endpoint({
  name: 'createShare',
  method: 'POST',
  // Every call makes a new share.
  repeatable: false,
  path: '/v1/lockers/{locker_id}/shares',
  auth: { ops: ['locker:read'] },
  summary: 'Share one file or one folder with anyone who has the address of the share',
  params: LockerPath,
  body: Type.Object({
    path: Type.String({
      minLength: 1,
      maxLength: 513,
      description:
        'The name of a file, or a folder with its final `/`. The share opens what is stored there now and later.',
    }),
    expires_in_hours: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: MAX_SHARE_HOURS }), Type.Null()], {
        default: DEFAULT_SHARE_HOURS,
        description: 'Null: the share does not expire.',
      }),
    ),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'A label to tell shares apart.' })),
  }),
  responses: { 200: Share },
  headers: NO_STORE,
  errors: [
    ...LOCKER_ERRORS,
    'FILE_NOT_FOUND',
    'CONTENT_NOT_FOUND',
    'SHARE_LIMIT_EXCEEDED',
    'RATE_LIMITED',
    'STORAGE_UNAVAILABLE',
    ...RESTRICTION_ERRORS,
  ],
})

export const listShares = endpoint({
  name: 'listShares',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/shares',
  auth: { ops: ['locker:read'] },
  summary: 'List the shares of a locker that still open something, oldest first',
  params: LockerPath,
  responses: { 200: ShareList },
  headers: NO_STORE,
  errors: LOCKER_ERRORS,
})

export const endShare = endpoint({
  name: 'endShare',
  method: 'DELETE',
  path: '/v1/lockers/{locker_id}/shares/{share_id}',
  auth: { ops: ['locker:read'] },
  summary: 'End a share immediately',
  params: Type.Object({ locker_id: Type.String(), share_id: Type.String() }),
  responses: {
    200: Type.Object({
      ok: Type.Literal(true),
      locker_id: Type.String(),
      share_id: Type.String(),
      ended: Type.Literal(true),
    }),
  },
  headers: NO_STORE,
  errors: [...LOCKER_ERRORS, 'SHARE_NOT_FOUND'],
})

const ContentFacts = {
  size_bytes: OrNull(Type.Integer({ minimum: 0 })),
  content_type: OrNull(Type.String()),
  content_hash: OrNull(Sha256),
  uploaded_at: OrNull(Timestamp()),
}

export const SharedFile = Type.Object(
  { filename: Type.String({ description: 'Relative to the folder.' }), ...ContentFacts },
  { title: 'SharedFile' },
)
export type SharedFile = Static<typeof SharedFile>

export const SharedContent = Type.Object(
  {
    name: Type.String({ description: 'The last part of the name of the file or folder.' }),
    kind: Kind,
    ...ContentFacts,
    created_at: Timestamp(),
    expires_at: Expiry,
    attested: Type.Boolean({
      description:
        'Whether the newest statement of the locker includes the file as it is now. For a folder: whether it includes all confirmed files; if not, it may include some.',
    }),
    files: Type.Optional(
      Type.Array(SharedFile, {
        description: 'For a folder: its files that have bytes, by name. A page may have fewer files than `limit`.',
      }),
    ),
    count: Type.Optional(Type.Integer({ description: 'For a folder: the number of files in this page.' })),
    next_cursor: Type.Optional(Type.String({ description: 'Where the next page begins. Absent on the last page.' })),
  },
  { title: 'SharedContent', description: 'The facts of content are null for a folder.' },
)
export type SharedContent = Static<typeof SharedContent>

const SharePath = Type.Object({ share_id: Type.String() })
const SharedFilePath = Type.Object({
  share_id: Type.String(),
  filename: Type.String({ description: 'Relative to the shared folder; of a shared file, the last part of its name.' }),
})
/** Anyone who sees the address of a share can use it, as with a short URL. */
const open = { auth: 'path-token', headers: PRIVATE } as const

export const showShare = endpoint({
  ...open,
  name: 'showShare',
  method: 'GET',
  path: '/v1/shares/{share_id}',
  summary: 'What a share opens: the properties of the file, or the files of the folder',
  params: SharePath,
  query: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 1000,
        description: 'The maximum number of files in a page.',
      }),
    ),
    cursor: Page.cursor,
  }),
  responses: { 200: SharedContent },
  errors: ['SHARE_NOT_FOUND', 'FILE_NOT_FOUND', 'LOCKER_TAKEN_DOWN', 'logbook_unavailable'],
})

export const readShared = endpoint({
  ...open,
  name: 'readShared',
  method: 'GET',
  path: '/v1/shares/{share_id}/f/{+filename}',
  summary: 'Download a file of a share; supports ranges and conditions',
  head: true,
  params: SharedFilePath,
  requestHeaders: OnCondition,
  responses: READ_ANSWERS,
  contentType: ANY_TYPE,
  errors: ['SHARE_NOT_FOUND', 'FILE_NOT_FOUND', ...BYTES_ERRORS, 'LOCKER_TAKEN_DOWN'],
})

export const proveShared = endpoint({
  ...open,
  name: 'proveShared',
  method: 'GET',
  path: '/v1/shares/{share_id}/proof/{+filename}',
  summary: 'Evidence about one file of a share, as a redacted bundle without the receipt; it has the full file name',
  params: SharedFilePath,
  responses: { 200: RedactedBundle },
  errors: [
    'SHARE_NOT_FOUND',
    'FILE_NOT_FOUND',
    'FILE_NOT_ATTESTED',
    'attestation_not_available',
    'RATE_LIMITED',
    'LOCKER_TAKEN_DOWN',
    'logbook_unavailable',
  ],
})

export const openShare = endpoint({
  ...open,
  name: 'openShare',
  method: 'GET',
  path: '/s/{share_id}',
  summary: 'A page for browsers (text/html); programs are redirected to the file, or to the list of the folder',
  params: SharePath,
  responses: { 200: Type.String(), 303: Type.String() },
  contentType: 'text/html; charset=utf-8',
  errors: ['SHARE_NOT_FOUND', 'LOCKER_TAKEN_DOWN'],
})
