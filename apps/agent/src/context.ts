// What operations work with, built on this one page from the configuration.

import { randomBytes } from 'node:crypto'
import { type Database, openDatabase } from '@svc/database/open'
import { createNonces, type UseNonce } from '@svc/guard/nonces'
import { createRateLimiter, type RateLimiter } from '@svc/guard/rate-limiter'
import { createSignerFinder, type FindSigner } from '@svc/guard/signers'
import { createLog, type Log } from '@svc/http-service/log'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import { createQueue } from '@svc/queue/create-queue'
import type { Queue } from '@svc/queue/queue'
import { openSales, type Sales } from '@svc/sales/sales'
import type { Config, Secrets } from './config.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'
import { createDelegationKeys, type DelegationKeys } from './delegations/delegation-keys.ts'
import { type GatewayLink, openGatewayLink } from './gateway/gateway-link.ts'
import type { JobPayloads } from './work/jobs.ts'
import { type PostWebhook, postWebhook } from './work/post-webhook.ts'

export interface Context {
  config: Config
  database: Database<Schema>
  /** Signs receipts and findings. */
  signer: Ed25519Signer
  /** The key and the webhook secret of each delegation. */
  delegationKeys: DelegationKeys
  sales: Sales
  gateway: GatewayLink
  findSigner: FindSigner
  useNonce: UseNonce
  rateLimiter: RateLimiter
  queue: Queue<JobPayloads>
  postWebhook: PostWebhook
  log: Log
  /** Unix milliseconds. */
  now: () => number
  randomBytes: (length: number) => Uint8Array
}

/** Unix seconds. */
export function unixNow({ now }: Pick<Context, 'now'>): number {
  return Math.floor(now() / 1000)
}

/** What tests replace; everything else is the real thing. */
export type Overrides = Partial<Pick<Context, 'now' | 'log' | 'postWebhook'>>

export async function createContext(config: Config, secrets: Secrets, overrides: Overrides = {}): Promise<Context> {
  const log = overrides.log ?? createLog(config.log.level)
  const now = overrides.now ?? Date.now
  const database = await openDatabase<Schema>({ url: secrets.databaseUrl, migrations })
  const { db } = database
  return {
    config,
    database,
    signer: ed25519Signer(secrets.signingSeed),
    delegationKeys: createDelegationKeys(secrets.delegationSeed),
    sales: await openSales(config.payments, secrets, now, log),
    gateway: openGatewayLink({ db, config, now, log }),
    findSigner: createSignerFinder(),
    useNonce: createNonces(db),
    rateLimiter: createRateLimiter({ db, now }),
    queue: await createQueue<JobPayloads>({ database, databaseUrl: secrets.databaseUrl, log, now, randomBytes }),
    postWebhook: overrides.postWebhook ?? postWebhook,
    log,
    now,
    randomBytes,
  }
}
