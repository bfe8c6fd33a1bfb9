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
    target: Type.String({
      description: 'The job, locker, transaction or key that was acted on, or `database`, or `log`.',
    }),
    outcome: Words(['done', 'refused']),
    reason: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown()),
    previous_hash: Type.String(),
    hash: Type.String({ description: 'SHA-256, in hex, over the fields above.' }),
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>

export const AuditLog = Type.Object(
  {
    entries: Type.Array(AuditEntry, { description: 'Newest first.' }),
    next_cursor: Type.Optional(Type.String()),
    chain: Type.Object({
      intact: Type.Boolean({ description: 'Whether every entry follows from the previous one.' }),
      entries: Count(),
      head: OrNull(
        Type.String({
          description: 'The sequence and hash of the last entry. Store them elsewhere to detect a changed log.',
        }),
      ),
      broken_at: OrNull(
        Type.Integer({ description: 'The first entry that was changed, is missing or is out of order.' }),
      ),
      checked_at: Timestamp('When all entries were last recomputed. Later entries were checked when they were added.'),
    }),
  },
  { title: 'AuditLog' },
)
export type AuditLog = Static<typeof AuditLog>

export const auditLog = endpoint({
  ...reading,
  name: 'auditLog',
  path: `${BASE}/audit`,
  summary: 'Actions taken by hand, with their actor and reason; refused attempts included',
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
