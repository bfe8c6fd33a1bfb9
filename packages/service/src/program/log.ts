// Structured logs: one JSON object per line, without secrets.

import { type Logger, pino } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface LogOutput {
  /** Written immediately. */
  write(line: string): void
  /** Written together with other lines, within a second. */
  writeSoon(line: string): void
  flush(): void
}

export interface Log extends Logger {
  readonly output: LogOutput
}

const SECRET_FIELDS = ['x-svc-envelope', 'x-svc-signature', 'authorization', 'x-oracle-secret', 'x-upload-token']

export function createLog(level: LogLevel, output: LogOutput = standardOutput()): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
      redact: SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]),
    },
    output,
  )
  return Object.assign(logger, { output })
}

/** Fields of PostgreSQL errors that quote rows. */
const QUOTING = ['detail', 'where', 'internalQuery']

/**
 * Fields that libraries attach to their errors are omitted: a connection to PostgreSQL has the key that cancels its
 * queries, and a query has its values (T-12).
 */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const fields = Object.entries(pino.stdSerializers.err(error))
  const plain = fields.filter(([name, value]) => typeof value !== 'object' && !QUOTING.includes(name))
  const parts = error instanceof AggregateError ? { aggregateErrors: error.errors.map(errorFields) } : {}
  return { ...Object.fromEntries(plain), ...parts }
}

const BUFFERED_CHARACTERS = 65_536
const FLUSH_EVERY_MS = 1000

function standardOutput(): LogOutput {
  let pending = ''
  const flush = () => {
    if (pending) process.stdout.write(pending)
    pending = ''
  }
  setInterval(flush, FLUSH_EVERY_MS).unref()
  return {
    flush,
    write(line) {
      pending += line
      flush()
    },
    writeSoon(line) {
      pending += line
      if (pending.length > BUFFERED_CHARACTERS) flush()
    },
  }
}
