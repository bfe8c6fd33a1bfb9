// Structured logs: one JSON object a line, without secrets.

import { type Logger, pino } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface LogOutput {
  /** Written at once. */
  write(line: string): void
  /** Written together with others, within a second. */
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
      redact: SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]),
    },
    output,
  )
  return Object.assign(logger, { output })
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
