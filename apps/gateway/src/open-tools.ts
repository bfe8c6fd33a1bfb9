// Opens all tools from the configuration.

import { randomBytes } from 'node:crypto'
import { ROLES } from '@svc/api/networks'
import { createSealing } from '@svc/database/journal/sealing'
import { openDatabase } from '@svc/database/open'
import { createQueue } from '@svc/database/queue/create-queue'
import { openSales } from '@svc/payments/selling/sales'
import { createSolanaNodes } from '@svc/payments/solana/nodes'
import { toBase58 } from '@svc/protocol/bytes'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import { createRateLimiter } from '@svc/service/guard/rate-limiter'
import { openSource } from '@svc/service/outgoing/open-source'
import { createResolver } from '@svc/service/outgoing/resolve'
import { createLog } from '@svc/service/program/log'
import { processGroup } from '@svc/service/program/process-group'
import { jobTraces } from '@svc/service/tracing/jobs'
import { openTracer } from '@svc/service/tracing/requests'
import { openProviders } from '@svc/storage/open-providers'
import type { Config, Secrets } from './config.ts'
import type { Overrides, Tools } from './context.ts'
import { type Continuity, createContinuity } from './continuity/continuity.ts'
import type { DocumentId } from './continuity/document-id.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'
import { postgresLimits } from './db/settings.ts'
import { findRefs } from './files/delivery/store.ts'
import type { JobPayloads } from './jobs/job-payloads.ts'
import { createKeysAt } from './keys/keys-at.ts'
import { createStatementKeys } from './keys/statement-keys.ts'

/** How long running jobs may take to finish when the gateway stops. */
const JOBS_GRACE_MS = 15_000

/** Everything opened is closed with `opened`, in reverse order, even if a later step fails. */
export async function openTools(
  config: Config,
  secrets: Secrets,
  overrides: Overrides,
  opened: AsyncDisposableStack,
): Promise<Tools> {
  const log = overrides.log ?? createLog(config.log.level)
  opened.defer(() => log.output.flush())
  const tracer = await openTracer(config.tracing, secrets, log)
  opened.defer(() => tracer?.stop())
  const now = overrides.now ?? Date.now

  let continuity: Continuity | null = null
  const database = await openDatabase<Schema, DocumentId>({
    url: secrets.databaseUrl,
    migrations,
    onServer: (server) => continuity?.serverConnected(server),
    postgres: postgresLimits(config.database, config.processes),
    guard: {
      requireCurrent: async () => continuity?.guard.requireCurrent(),
      assertCurrent: () => continuity?.guard.assertCurrent(),
      begin: () => continuity?.guard.begin() ?? (async () => async () => {}),
    },
  })
  opened.defer(() => database.close())

  const publication = ed25519Signer(secrets.publicationSeed)
  const watched = createContinuity({
    journal:
      config.continuity.logbookDir === null
        ? null
        : {
            folder: config.continuity.logbookDir,
            sealing: createSealing(secrets.shortUrlSeed),
            retentionDays: config.continuity.retentionDays,
          },
    database,
    publications: publicationsOf(config, secrets, publication),
    clockToleranceSeconds: config.continuity.clockToleranceSeconds,
    log,
    now,
  })
  continuity = watched
  opened.defer(() => watched.stop())

  const openOwnProviders = () =>
    openProviders({
      storage: config.storage,
      settings: secrets.providers,
      findRefs: (ids) => findRefs(database.db, ids),
      now,
    })
  const providers = overrides.providers ?? (await openOwnProviders())
  opened.defer(() => providers.close?.())

  // Workers draw from it at any time, which would disturb a test's randomness; no statement contains it.
  const queue = await createQueue<JobPayloads>({
    database,
    databaseUrl: secrets.databaseUrl,
    log,
    now,
    randomBytes,
    isPaused: () => watched.status().clock.isWrong,
    traces: tracer && jobTraces(tracer),
  })
  // Jobs that wait for a database that is behind are released immediately.
  opened.defer(() => queue.stop({ graceMs: watched.status().state === 'behind' ? 0 : JOBS_GRACE_MS }))

  const statementKeys = createStatementKeys({ secrets, database, now })
  const keysAt = createKeysAt(database)
  const deadlineMs = config.storage.fetch.timeoutSeconds * 1000
  const resolve = createResolver(config.storage.fetch.dnsServers)
  return {
    config,
    log,
    tracer,
    process: processGroup(),
    now,
    randomBytes: overrides.randomBytes ?? pooledRandomBytes(),
    signers: { statement: statementKeys.configured, publication, shortUrl: ed25519Signer(secrets.shortUrlSeed) },
    statementKeys,
    keysAt,
    database,
    queue,
    providers,
    sales: await openSales(config.payments, secrets, now, log),
    rateLimiter: createRateLimiter({ database, now }),
    continuity: watched,
    fetchSource:
      overrides.fetchSource ?? ((url, maxBytes, signal) => openSource(url, { resolve, deadlineMs, maxBytes, signal })),
  }
}

const POOL_BYTES = 4096

/** Takes small values from a pool: OpenSSL needs as long for one of them as for hundreds. */
function pooledRandomBytes(): Tools['randomBytes'] {
  let pool = new Uint8Array()
  let used = 0
  return (length) => {
    if (length > POOL_BYTES) return randomBytes(length)
    if (used + length > pool.length) {
      pool = randomBytes(POOL_BYTES)
      used = 0
    }
    const taken = new Uint8Array(pool.subarray(used, used + length))
    // No secret stays in the pool.
    pool.fill(0, used, used + length)
    used += length
    return taken
  }
}

/** Where the anchors of this gateway can be read. */
function publicationsOf({ anchors }: Config, { rpcUrls }: Secrets, key: Ed25519Signer) {
  const nodes = rpcUrls.get(ROLES.publication) ?? []
  if (!anchors.isOn) return null
  return { nodes: createSolanaNodes(ROLES.publication, nodes), signer: toBase58(key.publicKey) }
}
