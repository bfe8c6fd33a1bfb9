// What every operation works with.

import type { Database } from '@svc/database/open'
import type { Queue } from '@svc/database/queue/queue'
import type { Sales } from '@svc/payments/selling/sales'
import type { Ed25519Signer } from '@svc/protocol/keys'
import type { RateLimiter } from '@svc/service/guard/rate-limiter'
import type { OpenedSource } from '@svc/service/outgoing/open-source'
import type { Log } from '@svc/service/program/log'
import type { ProcessGroup } from '@svc/service/program/process-group'
import type { Tracer } from '@svc/service/tracing/tracer'
import type { Providers } from '@svc/storage/open-providers'
import type { Config } from './config.ts'
import type { Continuity } from './continuity/continuity.ts'
import type { DocumentId } from './continuity/document-id.ts'
import type { Schema } from './db/schema.ts'
import type { JobPayloads } from './jobs/job-payloads.ts'
import type { KeysAt } from './keys/keys-at.ts'
import type { KeySigner } from './keys/signers/signer.ts'
import type { StatementKeys } from './keys/statement-keys.ts'

export interface Tools {
  config: Config
  log: Log
  tracer: Tracer | null
  process: ProcessGroup
  /** Unix milliseconds. */
  now: () => number
  randomBytes: (length: number) => Uint8Array
  /** `statement`: the configured key. `statementKeys` selects the key that signs now. */
  signers: { statement: KeySigner; publication: Ed25519Signer; shortUrl: Ed25519Signer }
  statementKeys: StatementKeys
  /** The keys of statements and receipts that were valid at a time. */
  keysAt: KeysAt
  database: Database<Schema, DocumentId>
  queue: Queue<JobPayloads>
  providers: Providers
  sales: Sales
  rateLimiter: RateLimiter
  /** Keeps a database that was set back from repeating signatures, sales and nonces. */
  continuity: Continuity
  /** Opens a URL that a caller supplies, within the limits for fetching. */
  fetchSource: (url: string, maxBytes: number, signal: AbortSignal) => Promise<OpenedSource>
}

/** The tools and the state of each module between requests. A module adds its own in its `state.ts`. */
export interface Context extends Tools {}

/** Unix seconds. */
export function unixNow(context: Pick<Context, 'now'>): number {
  return Math.floor(context.now() / 1000)
}

/** What tests replace; everything else is the real thing. */
export type Overrides = Partial<Pick<Context, 'now' | 'log' | 'randomBytes' | 'providers' | 'fetchSource'>>
