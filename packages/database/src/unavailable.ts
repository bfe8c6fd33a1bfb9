// The database is unavailable or too slow. The query itself is correct: the same one may work later.

const NAME = 'DatabaseUnavailable'

export class DatabaseUnavailable extends Error {
  override name = NAME
}

/** Checks the name: an error from another thread has lost its class. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Error && error.name === NAME
}

/** PostgreSQL's code for a write to a standby, as during a failover. */
const READ_ONLY = '25006'

/** PostgreSQL's codes for temporary errors: five characters, or a prefix. */
const TEMPORARY_STATES = [
  '08', // connection exception
  '53', // insufficient resources: connections, memory, disk
  '57P', // the server shuts down, starts up, or ended the session
  '57014', // canceled: statement_timeout
  '55P03', // lock_timeout
  '40001', // serialization failure
  '40P01', // deadlock
  '25P03', // idle_in_transaction_session_timeout
  '25P04', // transaction_timeout
  READ_ONLY,
]

/** Errors of `pg` and of sockets after which the connection is unusable. */
const BROKEN_CONNECTION =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|read ECONN|write E)/

const SQLITE_CODES: unknown[] = [
  5, // SQLITE_BUSY: another process writes
  10, // SQLITE_IOERR
  13, // SQLITE_FULL
]

/** Wraps the error of a query as `DatabaseUnavailable` if it is one; returns any other unchanged. */
export function queryError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('errcode' in error) return SQLITE_CODES.includes(Number(error.errcode) & 0xff) ? unavailable(error) : error
  const isPassing =
    'severity' in error && 'code' in error && TEMPORARY_STATES.some((s) => String(error.code).startsWith(s))
  return isPassing || isConnectionBroken(error) ? unavailable(error) : error
}

/** Whether the connection must not be reused; one to a server that became a standby would stay read-only. */
export function isConnectionBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return BROKEN_CONNECTION.test(error.message) || ('code' in error && error.code === READ_ONLY)
}

/** When several addresses were tried, the message of the cause is empty. */
export function unavailable(cause: unknown): DatabaseUnavailable {
  const why = cause instanceof Error && (cause.message || (cause as NodeJS.ErrnoException).code)
  return new DatabaseUnavailable(`the database does not answer: ${why || cause}`, { cause })
}
