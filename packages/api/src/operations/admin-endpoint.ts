// What the operator's endpoints share.

import Type from 'typebox'
import { NO_STORE, Timestamp } from '../wire.ts'

export const BASE = '/v1/internal/operations'

export const reading = { method: 'GET', auth: 'internal', headers: NO_STORE } as const
export const acting = { auth: 'internal', headers: NO_STORE } as const
export const ACT_ERRORS = [
  'INTERNAL_AUTH_REQUIRED',
  'ACTING_IDENTITY_REQUIRED',
  'validation_error',
  'RATE_LIMITED',
  'database_behind',
] as const

export const Count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) })
export const Amount = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]*)$', description })
export const Usd = (description: string) => Type.Number({ description })

/** Why somebody acts. It stands in the audit log for good. */
export const Reason = Type.String({
  minLength: 3,
  maxLength: 500,
  pattern: '\\S',
  description: 'Why. It is kept in the audit log.',
})

export const Changed = Type.Boolean({ description: 'False where this was done before: nothing happened now.' })

export const Range = {
  from: Type.Optional(Timestamp('From this time on.')),
  to: Type.Optional(Timestamp('Before this time; now by default.')),
}
