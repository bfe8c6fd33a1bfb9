// One structured line per request. A line names the route, never the URL: paths and queries carry short-URL tokens and
// receipt ids, which open files.

import type { FastifyInstance } from 'fastify'
import { type DestinationStream, destination, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const SECRET_FIELDS = ['x-svc-envelope', 'x-svc-signature', 'authorization', 'x-oracle-secret', 'x-upload-token']

/** Buffered and written off the request's path; `flush` before the process ends. */
export function createLog(
  level: LogLevel,
  to: DestinationStream = destination({ sync: false, minLength: 4096 }),
): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]),
    },
    to,
  )
}

export function logRequests(app: FastifyInstance, log: Logger): void {
  app.addHook('onResponse', (request, reply, done) => {
    log.info({
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    })
    done()
  })
}
