import Type, { type Static } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { OrNull, Timestamp, Words } from '../wire.ts'
import { BASE, Count, reading } from './admin-endpoint.ts'

export const AuditEntry = Type.Object(
  {
    sequence: Type.Integer({ minimum: 1 }),
    at: Timestamp(),
    actor: Type.String(),
    action: Words([
      'retry_job',
      'delete_job',
      'freeze_locker',
      'unfreeze_locker',
      'take_down_locker',
      'restrict_locker',
      'attach_payment',
      'refund_payment',
      'announce_key',
      'rotate_key',
      'retire_key',
      'revoke_key',
      'replay',
      'prune_journal',
      'rebuild_database',
      'accept_losses',
      'restore_log',
      'begin_log',
    ]),
    target: Type.String({ description: 'The job, locker, transaction or key, or `database`, or `log`.' }),
    outcome: Words(['done', 'refused']),
    reason: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown()),
    previous_hash: Type.String(),
    hash: Type.String({ description: 'SHA-256, hex, over everything above.' }),
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditLog = Type.Object(
  {
    entries: Type.Array(AuditEntry, { description: 'The newest first.' }),
    next_cursor: Type.Optional(Type.String()),
    chain: Type.Object({
      intact: Type.Boolean({ description: 'Whether every entry follows from the one before.' }),
      entries: Count(),
      head: OrNull(Type.String({ description: 'Sequence and hash of the last entry. Keep it elsewhere.' })),
      broken_at: OrNull(Type.Integer({ description: 'The first entry that is changed, missing or out of place.' })),
      checked_at: Timestamp('When all entries were computed again. Those that came later were checked as they came.'),
    }),
  },
  { title: 'AuditLog' },
)
export type AuditLog = Static<typeof AuditLog>

export const auditLog = endpoint({
  ...reading,
  name: 'auditLog',
  path: `${BASE}/audit`,
  summary: 'What was done by hand, by whom and why; also attempts that were refused',
  query: Type.Object({
    target: Type.Optional(
      Type.String({ maxLength: 200, description: 'Only entries about this job, locker or payment.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
    cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
  }),
  responses: { 200: AuditLog },
  errors: ['INTERNAL_AUTH_REQUIRED', 'validation_error'],
})
