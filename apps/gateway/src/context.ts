// What operations work with.

import type { Database } from '@svc/database/open'
import type { RateLimiter } from '@svc/guard/rate-limiter'
import type { Log } from '@svc/http-service/log'
import type { OpenedSource } from '@svc/outgoing/open-source'
import type { Ed25519Signer } from '@svc/protocol/keys'
import type { Queue } from '@svc/queue/queue'
import type { Sales } from '@svc/sales/sales'
import type { Providers } from '@svc/storage/open-providers'
import type { QueueEntry } from './anchors/bridge/queue-entry.ts'
import type { EvmRegistry } from './anchors/evm/evm-registry.ts'
import type { Publisher } from './anchors/publisher.ts'
import type { Push } from './anchors/push.ts'
import type { Attest } from './attestations/attest.ts'
import type { ManifestChanged } from './attestations/auto-reattest.ts'
import type { Callers } from './auth/callers.ts'
import type { InternalCallerCheck } from './auth/internal-caller.ts'
import type { OidcVerifier, TokenReader } from './auth/oidc.ts'
import type { OracleCheck } from './auth/oracle-caller.ts'
import type { Config } from './config.ts'
import type { ObjectTable, Schema } from './db/schema.ts'
import type { HashObject } from './files/confirm/hash-object.ts'
import type { KeysAt } from './info/keys-at.ts'
import type { PublishingCosts } from './info/publishing-costs.ts'
import type { JobPayloads } from './jobs/job-payloads.ts'
import type { PayRequest } from './purchases/store.ts'
import type { Settlers } from './x402/settlers.ts'

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
