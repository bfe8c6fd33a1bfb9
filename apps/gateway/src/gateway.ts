// Starts and stops one gateway.

import { isDatabaseUnavailable } from '@svc/database/unavailable'
import { badBodyLimit } from '@svc/service/guard/bad-body-limit'
import { createAdmission } from '@svc/service/http/admission'
import { listen } from '@svc/service/http/listen'
import { createService } from '@svc/service/http/service'
import { closeService } from '@svc/service/program/run'
import { sql } from 'kysely'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import type { Db } from './db/schema.ts'
import { registerJobs } from './jobs/jobs.ts'
import { noteSigningKey } from './keys/note-signing-key.ts'
import { openTools } from './open-tools.ts'
import { addRoutes, openRooms } from './wire.ts'

export interface Gateway {
  /** Where it listens; the port is the real one also when 0 was asked for. */
  url: string
  context: Context
  stop(): Promise<void>
}

/** With the time that jobs are given, well within what a process has to stop. */
const REQUESTS_GRACE_MS = 10_000

/** A query waits for a connection and for the database behind those of other requests. */
function databaseTurn(db: Db): (done: () => void) => void {
  const query = sql`select 1`.compile(db)
  return (done) => void db.executeQuery(query).then(done, done)
}

export async function startGateway(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const tools = await openTools(config, secrets, overrides, opened)
  await tools.continuity.start()
  await noteSigningKey(tools)
  const context = await openRooms(tools, secrets)
  opened.defer(() => context.egress.save())
  opened.defer(() => context.logWriter.stop())
  opened.defer(() => context.witnesses.stop())
  const service = createService({
    log: context.log,
    checkResponses: config.mode === 'development',
    baseUrl: config.http.baseUrl,
    trustedProxies: config.http.trustedProxies,
    admit: createAdmission(config.http.maxRequestsAtOnce, { afterTurn: databaseTurn(context.database.db) }),
    badBodyLimit: badBodyLimit(context.rateLimiter, config.limits.perAddress),
    beforeWrite: context.continuity.requireCurrent,
    onAnswer: context.metrics.noteAnswer,
    isDatabaseUnavailable,
    tracer: context.tracer,
    onShed: context.metrics.noteShed,
  })
  opened.defer(() => closeService(service, { graceMs: REQUESTS_GRACE_MS }))
  addRoutes(service, context)
  const url = await listen(service, config.http)
  registerJobs(context)
  if (config.jobs.enabled) {
    await context.queue.start()
    context.logWriter.start()
  }
  if (!context.process.isOneOfSeveral) context.log.info({ url, mode: config.mode }, 'gateway started')
  const running = opened.move()
  return { url, context, stop: () => running.disposeAsync() }
}
