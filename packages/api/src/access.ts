// Everything that opens a locker besides the key of its owner, in one list.

import Type, { type Static } from 'typebox'
import { endpoint } from './endpoint.ts'
import { ENVELOPE_ERRORS, NO_STORE, OrNull, Timestamp, Words } from './wire.ts'

const RequestFields = {
  method: Words(['DELETE', 'POST']),
  path: Type.String({ description: 'Under the base URL, possibly with a query.' }),
  body: Type.Optional(Type.Record(Type.String(), Type.String())),
}

export const AccessEntry = Type.Object(
  {
    kind: Words(['operator', 'public_link', 'share', 's3_key', 'upload_session']),
    id: OrNull(Type.String({ description: 'Null for a closed public link.' })),
    label: OrNull(Type.String()),
    status: Words(['open', 'closed']),
    permissions: Type.Array(Words(['read', 'write', 'list'])),
    path: OrNull(Type.String({ description: 'The file, or the folder with its final `/`. Null: the whole locker.' })),
    created_at: OrNull(Timestamp('Null when unknown.')),
    created_by: OrNull(Type.String({ description: 'The key that created it. Null when unknown.' })),
    expires_at: OrNull(Timestamp('Null if it does not expire.')),
    last_used_at: OrNull(Timestamp('Accurate to the hour. Null when unknown or never.')),
    end: OrNull(
      Type.Object(RequestFields, {
        description: 'The request that ends it. Null for a closed public link.',
      }),
    ),
  },
  { title: 'AccessEntry' },
)
export type AccessEntry = Static<typeof AccessEntry>

export const AccessList = Type.Object(
  {
    locker_id: Type.String(),
    access: Type.Array(AccessEntry),
    count: Type.Integer(),
    truncated: Type.Optional(
      Type.Literal(true, { description: 'There are more upload sessions than the list contains.' }),
    ),
    end_all: Type.Object(RequestFields, {
      description:
        'Ends all shares, S3 access, URLs, tokens and upload sessions at once; operators and the public link stay. Short URLs, tus tokens and S3 session credentials are not stored, so the list does not contain them; each expires within a day.',
    }),
  },
  { title: 'AccessList' },
)
export type AccessList = Static<typeof AccessList>

export const listAccess = endpoint({
  name: 'listAccess',
  method: 'GET',
  path: '/v1/lockers/{locker_id}/access',
  auth: { ops: ['locker:admin'] },
  summary: 'List everything that opens a locker, and how to end each',
  params: Type.Object({ locker_id: Type.String() }),
  responses: { 200: AccessList },
  headers: NO_STORE,
  errors: [...ENVELOPE_ERRORS, 'locker_not_found', 'receipt_is_renewal', 'validation_error', 'OWNER_REQUIRED'],
})
