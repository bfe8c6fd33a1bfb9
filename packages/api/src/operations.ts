// For the operator: what the business and its health look like, and what may be done by hand. Every internal caller may
// read; only identities that the operator has named may act, each time with a reason, and all of it is in the audit log.

export * from './operations/audit-log.ts'
export * from './operations/jobs.ts'
export * from './operations/lockers.ts'
export * from './operations/overview.ts'
export * from './operations/payments.ts'
export * from './operations/sales.ts'
