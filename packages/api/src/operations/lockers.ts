import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { Used } from '../usage.ts'
import { OrNull, Timestamp, Words } from '../wire.ts'
import { ACT_ERRORS, acting, BASE, Changed, Count, Reason, reading } from './admin-endpoint.ts'
import { AuditEntry } from './audit-log.ts'

const AdminRestriction = Type.Object({
  state: Words(['frozen', 'taken_down']),
  since: Timestamp(),
  notice: OrNull(Type.String({ description: 'The message that the owner receives.' })),
})

const AdminLockerFacts = {
  locker_id: Type.String(),
  receipt_id: Type.String(),
  owner: Type.String(),
  operators: Type.Array(Type.String()),
  network: Type.String(),
  provider: Type.String(),
  file_count: Count(),
  total_bytes: Count('The size of all files, confirmed or not.'),
  created_at: Timestamp(),
  expires_at: Timestamp(),
  ended: Type.Boolean(),
  restriction: OrNull(AdminRestriction),
}

export const AdminLocker = Type.Object(AdminLockerFacts, { title: 'AdminLocker' })
export type AdminLocker = Static<typeof AdminLocker>

export const findLockers = endpoint({
  ...reading,
  name: 'findLockers',
  path: `${BASE}/lockers`,
  summary:
    'List all lockers, or find them by locker id, receipt id, transaction, or wallet of the owner or an operator; newest first',
  query: Type.Object({
    q: Type.Optional(Type.String({ minLength: 3, maxLength: 200 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_-]+$' })),
  }),
  responses: {
    200: Type.Object({ lockers: Type.Array(AdminLocker), next_cursor: Type.Optional(Type.String()) }),
  },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})

export const AdminLockerDetails = Type.Object(
  {
    ...AdminLockerFacts,
    bytes: Used('The size of all files, confirmed or not.'),
    files: Used('The number of entries in the manifest.'),
    egress: Used('The approximate number of bytes sent by the public link and short URLs.'),
    public_link: Words(['open', 'closed']),
    audit: Type.Array(AuditEntry, { description: 'The newest 100 entries about this locker.' }),
  },
  { title: 'AdminLockerDetails' },
)
export type AdminLockerDetails = Static<typeof AdminLockerDetails>

const LockerPath = Type.Object({ locker_id: Type.String({ maxLength: 100 }) })

export const adminLocker = endpoint({
  ...reading,
  name: 'adminLocker',
  path: `${BASE}/lockers/{locker_id}`,
  summary: 'One locker, and the actions taken on it by hand',
  params: LockerPath,
  responses: { 200: AdminLockerDetails },
  errors: ['INTERNAL_AUTH_REQUIRED', 'locker_not_found', 'validation_error'],
})

export const restrictLocker = endpoint({
  ...acting,
  name: 'restrictLocker',
  method: 'PUT',
  path: `${BASE}/lockers/{locker_id}/restriction`,
  summary:
    'Freeze a locker (no writes, no new links), take it down (its files are not served), or lift the restriction',
  params: LockerPath,
  body: Type.Object({
    restriction: Words(['none', 'frozen', 'taken_down']),
    reason: Reason,
    notice: Type.Optional(Type.String({ maxLength: 500, description: 'The message that the owner receives.' })),
  }),
  responses: {
    200: Type.Object({ ok: Type.Literal(true), changed: Changed, locker: AdminLocker }),
  },
  errors: [...ACT_ERRORS, 'locker_not_found'],
})
