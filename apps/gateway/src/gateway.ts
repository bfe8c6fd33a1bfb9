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
import { recordSigningKey } from './keys/record-signing-key.ts'
import { openTools } from './open-tools.ts'
import { pageOfError } from './views/pages/routes.ts'
import { addRoutes, openModules } from './wire.ts'

export interface Gateway {
  /** The URL that it listens at, with the actual port even if port 0 was configured. */
  url: string
  context: Context
  stop(): Promise<void>
}

/** Together with the grace of jobs, this is well within the time that a process has to stop. */
const REQUESTS_GRACE_MS = 10_000

/** Resolves after the queries of other requests that already wait for a connection and the database. */
function afterQueuedQueries(db: Db): (done: () => void) => void {
  const query = sql`select 1`.compile(db)
  return (done) => void db.executeQuery(query).then(done, done)
}

export async function startGateway(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<Gateway> {
  await using opened = new AsyncDisposableStack()
  const tools = await openTools(config, secrets, overrides, opened)
  await tools.continuity.start()
  await recordSigningKey(tools)
  const context = await openModules(tools, secrets)
  opened.defer(() => context.egress.save())
  opened.defer(() => context.logWriter.stop())
  opened.defer(() => context.witnesses.stop())
  const service = createService({
    log: context.log,
    checkResponses: config.mode === 'development',
    baseUrl: config.http.baseUrl,
    errorPage: pageOfError(context),
    trustedProxies: config.http.trustedProxies,
    admit: createAdmission(config.http.maxRequestsAtOnce, { afterTurn: afterQueuedQueries(context.database.db) }),
    badBodyLimit: badBodyLimit(context.rateLimiter, config.limits.perAddress),
    beforeWrite: context.continuity.requireCurrent,
    onAnswer: context.metrics.countAnswer,
    isDatabaseUnavailable,
    tracer: context.tracer,
    onShed: context.metrics.countShed,
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
