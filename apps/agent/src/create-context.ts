// Builds the tools from the configuration.

import { randomBytes } from 'node:crypto'
import { openDatabase } from '@svc/database/open'
import { createNonces } from '@svc/guard/nonces'
import { createRateLimiter } from '@svc/guard/rate-limiter'
import { createSignerFinder } from '@svc/guard/signers'
import { createLog } from '@svc/http-service/log'
import { openTracer } from '@svc/http-service/tracing'
import { createResolver } from '@svc/outgoing/resolve'
import { ed25519Signer } from '@svc/protocol/keys'
import { createQueue } from '@svc/queue/create-queue'
import { openSales } from '@svc/sales/sales'
import type { Config, Secrets } from './config.ts'
import type { Context, JobPayloads, Overrides } from './context.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'
import { createDelegationKeys } from './delegations/delegation-keys.ts'
import { openGatewayLink } from './gateway/gateway-link.ts'
import { postWebhook } from './work/findings/webhook-request.ts'
import { createSubscriberSlots } from './work/subscriber-slots.ts'

/** How long the jobs that run may take to finish when the service stops. */
const JOBS_GRACE_MS = 15_000

/** Whatever needs closing is added to `opened`, also when a later step fails. */
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
  const database = await openDatabase<Schema>({ url: databaseUrl, migrations })
  opened.defer(() => database.close())
  const { db } = database
  const queue = await createQueue<JobPayloads>({ database, databaseUrl, log, now, randomBytes, tracer })
  opened.defer(() => queue.stop({ graceMs: JOBS_GRACE_MS }))
  const resolve = overrides.resolve ?? createResolver(config.work.dnsServers)
  return {
    config,
    tracer,
    database,
    signer: ed25519Signer(secrets.signingSeed),
    delegationKeys: createDelegationKeys(secrets.delegationSeed),
    sales: await openSales(config.payments, secrets, now, log),
    gateway: openGatewayLink({ db, config, now, log, wait: overrides.waitToRetry }),
    findSigner: createSignerFinder(),
    useNonce: createNonces(db),
    rateLimiter: createRateLimiter({ db, now }),
    queue,
    withSlot: createSubscriberSlots(),
    postWebhook: overrides.postWebhook ?? ((url, message) => postWebhook(url, message, { resolve })),
    resolve,
    log,
    now,
    randomBytes,
  }
}
