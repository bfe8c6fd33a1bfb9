// Endpoints for the admin: reading the state of the business, and acting by hand. Every internal caller may read. Only
// identities that `ADMINS` names may act, each time with a reason, and the audit trail records every attempt.

export * from './operations/audit-log.ts'
export * from './operations/jobs.ts'
export * from './operations/lockers.ts'
export * from './operations/overview.ts'
export * from './operations/payments.ts'
export * from './operations/sales.ts'
