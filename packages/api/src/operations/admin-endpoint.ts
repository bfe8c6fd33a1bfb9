// Parts shared by the admin's endpoints.

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

/** The reason for an action. The audit trail stores it permanently. */
export const Reason = Type.String({
  minLength: 3,
  maxLength: 500,
  pattern: '\\S',
  description: 'The reason for the action. The audit trail stores it.',
})

export const Changed = Type.Boolean({ description: 'False if this had already been done, so nothing changed.' })

export const Range = {
  from: Type.Optional(Timestamp('The beginning of the range, inclusive.')),
  to: Type.Optional(Timestamp('The end of the range, exclusive. The default is now.')),
}
