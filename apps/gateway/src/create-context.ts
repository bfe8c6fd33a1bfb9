// What operations work with, built on this one page from the configuration.

import { randomBytes } from 'node:crypto'
import { batch } from '@svc/concurrency/sharing'
import { openDatabase } from '@svc/database/open'
import { createRateLimiter } from '@svc/guard/rate-limiter'
import { createLog } from '@svc/http-service/log'
import { openSource } from '@svc/outgoing/open-source'
import { ed25519Signer } from '@svc/protocol/keys'
import { createQueue } from '@svc/queue/create-queue'
import { openSales } from '@svc/sales/sales'
import { openProviders } from '@svc/storage/open-providers'
import { createEntryQueue } from './anchors/bridge/queue-entry.ts'
import { createEvmRegistry, type EvmRegistry } from './anchors/evm/evm-registry.ts'
import { openPublisher } from './anchors/publisher.ts'
import { createPush } from './anchors/push.ts'
import { createAttest } from './attestations/attest.ts'
import { createAutoReattest } from './attestations/auto-reattest.ts'
import { createCallers } from './auth/callers.ts'
import { createInternalCallerCheck } from './auth/internal-caller.ts'
import { createOidcVerifier, createTokenReader } from './auth/oidc.ts'
import { createOracleCheck } from './auth/oracle-caller.ts'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { migrations } from './db/migrations.ts'
import type { ObjectTable, Schema } from './db/schema.ts'
import { createObjectHasher, createObjectReader } from './files/confirm/hash-object.ts'
import { findRefs } from './files/settling/store.ts'
import { insertObjects } from './files/store.ts'
import { createKeysAt } from './info/keys-at.ts'
import { createPublishingCosts } from './info/publishing-costs.ts'
import type { JobPayloads } from './jobs/job-payloads.ts'
import { insertPayRequests, type PayRequest } from './purchases/store.ts'
import { openSettlers } from './x402/settlers.ts'

export async function createContext(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<Context> {
  const log = overrides.log ?? createLog(config.log.level)
  const now = overrides.now ?? Date.now
  const deadlineMs = config.storage.fetch.timeoutSeconds * 1000
  const database = await openDatabase<Schema>({ url: secrets.databaseUrl, migrations })
  const providers =
    overrides.providers ??
    (await openProviders({
      storage: config.storage,
      settings: secrets.providers,
      findRefs: (ids) => findRefs(database.db, ids),
      now,
    }))
  const rateLimiter = createRateLimiter({ db: database.db, now })
  const signers = {
    statement: ed25519Signer(secrets.statementSeed),
    publication: ed25519Signer(secrets.publicationSeed),
    shortUrl: ed25519Signer(secrets.shortUrlSeed),
  }
  const parts = { config, database, providers, signers, now, randomBytes: overrides.randomBytes ?? randomBytes }
  const sales = await openSales(config.payments, secrets, now, log)
  const settlers = await openSettlers(secrets)
  // Its randomness is never a test's: workers draw from it when they like, and what they draw is in no statement.
  const queue = await createQueue<JobPayloads>({ database, databaseUrl: secrets.databaseUrl, log, now, randomBytes })
  const publisher = openPublisher(config.anchors, signers.publication, secrets.primaryRpcUrls)
  const evmRegistry = openEvmRegistry(config, secrets)
  const queueEntry = createEntryQueue({ queue, evmRegistry })
  return {
    ...parts,
    sales,
    storePayRequest: batch(async (requests: PayRequest[]) => {
      await insertPayRequests(database.db, requests)
      return requests.map(() => undefined)
    }),
    announceObject: batch(async (objects: ObjectTable[]) => {
      await insertObjects(database.db, objects)
      return objects.map(() => undefined)
    }),
    settlers,
    sponsors: config.sponsors && createOidcVerifier({ ...config.sponsors, now }),
    isInternalCaller: createInternalCallerCheck({
      mode: config.mode,
      secret: secrets.internalSecret,
      oidc: config.internal.oidc && createOidcVerifier({ ...config.internal.oidc, now }),
    }),
    keysAt: createKeysAt({ database }),
    mayCompute: createOracleCheck(secrets.oracleSecret),
    receiptTokens:
      config.evidence.tokens &&
      createTokenReader(
        { ...config.evidence.tokens, now },
        { code: 'BEARER_TOKEN_INVALID', kind: 'token', requiredClaims: ['exp', 'receipt_id'] },
      ),
    callers: createCallers({ db: database.db, now, rateLimiter, badSignaturesPerMinute: config.limits.perAddress }),
    rateLimiter,
    hashObject: createObjectHasher(createObjectReader(providers)),
    fetchSource: overrides.fetchSource ?? ((url, maxBytes) => openSource(url, { deadlineMs, maxBytes })),
    queue,
    attest: createAttest({ ...parts, queue, publisher, queueEntry }, secrets.databaseUrl),
    manifestChanged: createAutoReattest({ config, queue }),
    publisher,
    evmRegistry,
    queueEntry,
    push: createPush({ ...parts, queueEntry }, publisher),
    publishingCosts: createPublishingCosts({ ...parts, publisher, log }),
    log,
  }
}

function openEvmRegistry({ evmRegistry }: Config, { evmRpcUrls, evmRegistryKey }: Secrets): EvmRegistry | null {
  if (!evmRegistry || !evmRegistryKey) return null
  return createEvmRegistry({ rpcUrls: evmRpcUrls, privateKey: evmRegistryKey, contract: evmRegistry.contract })
}
