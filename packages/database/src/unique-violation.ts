const sqliteConstraintCodes: unknown[] = [
  1555, // SQLITE_CONSTRAINT_PRIMARYKEY
  2067, // SQLITE_CONSTRAINT_UNIQUE
]
const postgresUniqueViolation = '23505'

/** Whether a query failed because a row with the same primary or unique key exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return sqliteConstraintCodes.includes(error.errcode)
  return 'code' in error && error.code === postgresUniqueViolation
}
