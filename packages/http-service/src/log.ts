// Structured logs. A request line names the route, never the URL: paths and queries carry short-URL tokens and receipt
// ids, which open files.

import type { FastifyInstance } from 'fastify'
import { type DestinationStream, destination, type Logger, pino } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export interface Log extends Logger {
  /** Where finished lines go. */
  readonly lines: DestinationStream
}

const SECRET_FIELDS = ['x-svc-envelope', 'x-svc-signature', 'authorization', 'x-oracle-secret', 'x-upload-token']

/** Buffered for up to a second and written off the request's path; `flush` before the process ends. */
export function createLog(level: LogLevel, lines: DestinationStream = bufferedOutput()): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]),
    },
    lines,
  )
  return Object.assign(logger, { lines })
}

function bufferedOutput(): DestinationStream {
  return destination({ sync: false, minLength: 65_536, maxWrite: 131_072, periodicFlush: 1000 })
}

/** One line per request, put together by hand: a general logger with redaction costs more than a small answer. */
export function logRequests(app: FastifyInstance, log: Log): void {
  if (!log.isLevelEnabled('info')) return
  const level = log.levels.values.info
  app.addHook('onResponse', (request, reply, done) => {
    const route = JSON.stringify(request.routeOptions.url ?? null)
    log.lines.write(
      `{"level":${level},"time":"${new Date().toISOString()}","request_id":"${request.id}","method":"${request.method}",` +
        `"route":${route},"status":${reply.statusCode},"ms":${reply.elapsedTime.toFixed(1)}}\n`,
    )
    done()
  })
}
