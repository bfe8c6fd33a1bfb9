// The database is away, or too busy to answer in time. Nothing is wrong with the query: the same one may work later.

const NAME = 'DatabaseUnavailable'

export class DatabaseUnavailable extends Error {
  override name = NAME
}

/** By its name: an error that comes from another thread has lost its class. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Error && error.name === NAME
}

/** PostgreSQL's code of a standby that is asked to write, as during a failover. */
const READ_ONLY = '25006'

/** PostgreSQL's codes of what passes: five characters, or the two of a class. */
const PASSING_STATES = [
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

/** Of `pg` itself and of sockets; the connection is not usable any more. */
const BROKEN_CONNECTION =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|read ECONN|write E)/

const SQLITE_CODES: unknown[] = [
  5, // SQLITE_BUSY: another process writes
  10, // SQLITE_IOERR
  13, // SQLITE_FULL
]

/** The error of a query as `DatabaseUnavailable` where it is one; any other as it is. */
export function queryError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if ('errcode' in error) return SQLITE_CODES.includes(Number(error.errcode) & 0xff) ? unavailable(error) : error
  const isPassing =
    'severity' in error && 'code' in error && PASSING_STATES.some((s) => String(error.code).startsWith(s))
  return isPassing || isConnectionBroken(error) ? unavailable(error) : error
}

/** Whether the connection must not be used again; one to a server that became a standby would stay read-only. */
export function isConnectionBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return BROKEN_CONNECTION.test(error.message) || ('code' in error && error.code === READ_ONLY)
}

/** Where several addresses were tried, the message of the cause is empty. */
export function unavailable(cause: unknown): DatabaseUnavailable {
  const why = cause instanceof Error && (cause.message || (cause as NodeJS.ErrnoException).code)
  return new DatabaseUnavailable(`the database does not answer: ${why || cause}`, { cause })
}
