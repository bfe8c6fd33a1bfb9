// What operations work with, built on this one page from the configuration.

import { randomBytes } from 'node:crypto'
import { batched } from '@svc/database/batch'
import { type Database, openDatabase } from '@svc/database/open'
import { createRateLimiter, type RateLimiter } from '@svc/guard/rate-limiter'
import { createLog, type Log } from '@svc/http-service/log'
import { type OpenedSource, openSource } from '@svc/outgoing/open-source'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import { createQueue } from '@svc/queue/create-queue'
import type { Queue } from '@svc/queue/queue'
import { openSales, type Sales } from '@svc/sales/sales'
import { createEntryQueue, type QueueEntry } from './anchors/bridge/queue-entry.ts'
import { createEvmRegistry, type EvmRegistry } from './anchors/evm/evm-registry.ts'
import { openPublisher, type Publisher } from './anchors/publisher.ts'
import { createPush, type Push } from './anchors/push.ts'
import { type Attest, createAttest } from './attestations/attest.ts'
import { createAutoReattest, type ManifestChanged } from './attestations/auto-reattest.ts'
import { type Callers, createCallers } from './auth/callers.ts'
import { createInternalCallerCheck, type InternalCallerCheck } from './auth/internal-caller.ts'
import { createOidcVerifier, createTokenReader, type OidcVerifier, type TokenReader } from './auth/oidc.ts'
import { createOracleCheck, type OracleCheck } from './auth/oracle-caller.ts'
import type { Config, Secrets } from './config.ts'
import { migrations } from './db/migrations.ts'
import type { ObjectTable, Schema } from './db/schema.ts'
import { createObjectHasher, createObjectReader, type HashObject } from './files/confirm/hash-object.ts'
import { findRefs } from './files/settling/store.ts'
import { insertObjects } from './files/store.ts'
import { createKeysAt, type KeysAt } from './info/keys-at.ts'
import { createPublishingCosts, type PublishingCosts } from './info/publishing-costs.ts'
import type { JobPayloads } from './jobs/jobs.ts'
import { openProviders, type Providers } from './providers/open-providers.ts'
import { insertPayRequests, type PayRequest } from './purchases/store.ts'
import { openSettlers, type Settlers } from './x402/settlers.ts'

export interface Context {
  config: Config
  database: Database<Schema>
  signers: { statement: Ed25519Signer; publication: Ed25519Signer; shortUrl: Ed25519Signer }
  sales: Sales
  /** Durable when it resolves; many quotes share a commit. */
  storePayRequest: (request: PayRequest) => Promise<void>
  /** Durable when it resolves; many uploads share a commit. */
  announceObject: (object: ObjectTable) => Promise<void>
  /** Who send payments that others have signed. */
  settlers: Settlers
  /** Null where no identity provider is configured: then nobody sponsors. */
  sponsors: OidcVerifier | null
  isInternalCaller: InternalCallerCheck
  keysAt: KeysAt
  mayCompute: OracleCheck
  /** Null where no issuer of them is configured. */
  receiptTokens: TokenReader | null
  /** Who signed a request. */
  callers: Callers
  rateLimiter: RateLimiter
  providers: Providers
  hashObject: HashObject
  /** Opens what a caller names by its URL, within the limits of fetching. */
  fetchSource: (url: string, maxBytes: number) => Promise<OpenedSource>
  queue: Queue<JobPayloads>
  /** Brings the statements of a receipt up to date. */
  attest: Attest
  manifestChanged: ManifestChanged
  /** Null where nothing is published. */
  publisher: Publisher | null
  /** Null where no registry of the EVM chain is configured. */
  evmRegistry: EvmRegistry | null
  queueEntry: QueueEntry | null
  /** Publishes the newest statement of a receipt. */
  push: Push
  publishingCosts: PublishingCosts
  log: Log
  /** Unix milliseconds. */
  now: () => number
  randomBytes: (length: number) => Uint8Array
}

/** Unix seconds. */
export function unixNow(context: Pick<Context, 'now'>): number {
  return Math.floor(context.now() / 1000)
}

/** What tests replace; everything else is the real thing. */
export type Overrides = Partial<Pick<Context, 'now' | 'log' | 'randomBytes' | 'providers' | 'fetchSource'>>

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
    storePayRequest: batched(async (requests: PayRequest[]) => {
      await insertPayRequests(database.db, requests)
      return requests.map(() => undefined)
    }),
    announceObject: batched(async (objects: ObjectTable[]) => {
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
