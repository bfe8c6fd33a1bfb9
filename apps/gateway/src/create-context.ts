// The tools, opened on this one page from the configuration.

import { randomBytes } from 'node:crypto'
import { openDatabase } from '@svc/database/open'
import { createRateLimiter } from '@svc/guard/rate-limiter'
import { createLog } from '@svc/http-service/log'
import { ownProcess } from '@svc/http-service/own-process'
import { openSource } from '@svc/outgoing/open-source'
import { createResolver } from '@svc/outgoing/resolve'
import { ed25519Signer } from '@svc/protocol/keys'
import { createQueue } from '@svc/queue/create-queue'
import { openSales } from '@svc/sales/sales'
import { openProviders } from '@svc/storage/open-providers'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'
import { findRefs } from './files/delivery/store.ts'
import type { JobPayloads } from './jobs/job-payloads.ts'

/** Jobs under way are given this long when the gateway stops. */
const JOBS_GRACE_MS = 15_000

/** Those of all processes; with those of the queue within the 100 that PostgreSQL takes by default, up to 10 processes. */
const CONNECTIONS_OF_ALL = 48
const MIN_CONNECTIONS = 4

/** What is opened is closed with `opened`, the last first; also when a later step fails. */
export async function createContext(
  config: Config,
  secrets: Secrets,
  overrides: Overrides,
  opened: AsyncDisposableStack,
): Promise<Context> {
  const log = overrides.log ?? createLog(config.log.level)
  opened.defer(() => log.output.flush())
  const now = overrides.now ?? Date.now

  const database = await openDatabase<Schema>({
    url: secrets.databaseUrl,
    migrations,
    maxConnections: Math.max(MIN_CONNECTIONS, Math.floor(CONNECTIONS_OF_ALL / config.processes)),
  })
  opened.defer(() => database.close())

  const openOwnProviders = () =>
    openProviders({
      storage: config.storage,
      settings: secrets.providers,
      findRefs: (ids) => findRefs(database.db, ids),
      now,
    })
  const providers = overrides.providers ?? (await openOwnProviders())
  opened.defer(() => providers.close?.())

  // Never a test's randomness: workers draw from it at any time, and none of it is in a statement.
  const queue = await createQueue<JobPayloads>({ database, databaseUrl: secrets.databaseUrl, log, now, randomBytes })
  opened.defer(() => queue.stop({ graceMs: JOBS_GRACE_MS }))

  const deadlineMs = config.storage.fetch.timeoutSeconds * 1000
  const resolve = createResolver(config.storage.fetch.dnsServers)
  return {
    config,
    log,
    process: ownProcess(),
    now,
    randomBytes: overrides.randomBytes ?? randomBytes,
    signers: {
      statement: ed25519Signer(secrets.statementSeed),
      publication: ed25519Signer(secrets.publicationSeed),
      shortUrl: ed25519Signer(secrets.shortUrlSeed),
    },
    database,
    queue,
    providers,
    sales: await openSales(config.payments, secrets, now, log),
    rateLimiter: createRateLimiter({ db: database.db, now }),
    fetchSource:
      overrides.fetchSource ?? ((url, maxBytes, signal) => openSource(url, { resolve, deadlineMs, maxBytes, signal })),
  }
}
