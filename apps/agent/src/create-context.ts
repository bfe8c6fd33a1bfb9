// Builds the tools from the configuration.

import { randomBytes } from 'node:crypto'
import { openDatabase } from '@svc/database/open'
import { createQueue } from '@svc/database/queue/create-queue'
import type { ServerIdentity } from '@svc/database/server-identity'
import { openSales } from '@svc/payments/selling/sales'
import { ed25519Signer } from '@svc/protocol/keys'
import { clockDifference, createClockGuard } from '@svc/service/guard/clock-guard'
import { createNonces } from '@svc/service/guard/nonces'
import { createRateLimiter } from '@svc/service/guard/rate-limiter'
import { createSignerFinder } from '@svc/service/guard/signers'
import { createResolver } from '@svc/service/outgoing/resolve'
import { createLog } from '@svc/service/program/log'
import { ServiceError } from '@svc/service/service-error'
import { jobTraces } from '@svc/service/tracing/jobs'
import { openTracer } from '@svc/service/tracing/requests'
import type { Config, Secrets } from './config.ts'
import type { Context, JobPayloads, Overrides } from './context.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'
import { createDelegationKeys } from './delegations/delegation-keys.ts'
import { openGatewayLink } from './gateway/gateway-link.ts'
import { postWebhook } from './work/findings/webhook-request.ts'
import { createSubscriberSlots } from './work/subscriber-slots.ts'

/** How long running jobs may take to finish when the service stops. */
const JOBS_GRACE_MS = 15_000
/** How often the clock is compared with the database's, in addition to each new connection. */
const COMPARE_MS = 5000

/** Resources to close are added to `opened`, even if a later step fails. */
export async function createContext(
  opened: AsyncDisposableStack,
  config: Config,
  secrets: Secrets,
  overrides: Overrides = {},
): Promise<Context> {
  const { databaseUrl } = secrets
  const log = overrides.log ?? createLog(config.log.level)
  opened.defer(() => log.output.flush())
  const tracer = await openTracer(config.tracing, secrets, log)
  opened.defer(() => tracer?.stop())
  const now = overrides.now ?? Date.now
  const clock = createClockGuard({ toleranceSeconds: config.clockToleranceSeconds, log, refusal: clocksDiffer })
  const onServer = ({ clockAheadMs }: ServerIdentity) => clock.compared(clockAheadMs)
  const database = await openDatabase<Schema>({ url: databaseUrl, migrations, onServer })
  opened.defer(() => database.close())
  const comparing = setInterval(() => void database.server().then(onServer, () => {}), COMPARE_MS)
  comparing.unref()
  opened.defer(() => clearInterval(comparing))
  const { commit } = database
  const isPaused = () => clock.isWrong()
  const traces = tracer && jobTraces(tracer)
  const queue = await createQueue<JobPayloads>({ database, databaseUrl, log, now, randomBytes, isPaused, traces })
  opened.defer(() => queue.stop({ graceMs: JOBS_GRACE_MS }))
  const resolve = overrides.resolve ?? createResolver(config.work.dnsServers)
  return {
    config,
    tracer,
    database,
    clock,
    signer: ed25519Signer(secrets.signingSeed),
    delegationKeys: createDelegationKeys(secrets.delegationSeed),
    sales: await openSales(config.payments, secrets, now, log),
    gateway: openGatewayLink({ database, config, now, log, wait: overrides.waitToRetry }),
    findSigner: createSignerFinder(),
    useNonce: createNonces(commit),
    rateLimiter: createRateLimiter({ database, now }),
    queue,
    withSlot: createSubscriberSlots(),
    postWebhook: overrides.postWebhook ?? ((url, message) => postWebhook(url, message, { resolve })),
    resolve,
    log,
    now,
    randomBytes,
  }
}

function clocksDiffer(aheadSeconds: number): ServiceError {
  return new ServiceError('database_unavailable', `the clock of this service is ${clockDifference(aheadSeconds)}`, {
    hint: 'nothing was changed; send the request again, and another replica may answer',
    headers: { 'retry-after': '10' },
  })
}
