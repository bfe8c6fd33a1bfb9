// What operations work with, built on this one page from the configuration.

import { randomBytes } from 'node:crypto'
import { openDatabase } from '@svc/database/open'
import { createNonces } from '@svc/guard/nonces'
import { createRateLimiter } from '@svc/guard/rate-limiter'
import { createSignerFinder } from '@svc/guard/signers'
import { createLog } from '@svc/http-service/log'
import { ed25519Signer } from '@svc/protocol/keys'
import { createQueue } from '@svc/queue/create-queue'
import { openSales } from '@svc/sales/sales'
import type { Config, Secrets } from './config.ts'
import type { Context, Overrides } from './context.ts'
import { migrations } from './db/migrations.ts'
import type { Schema } from './db/schema.ts'
import { createDelegationKeys } from './delegations/delegation-keys.ts'
import { openGatewayLink } from './gateway/gateway-link.ts'
import type { JobPayloads } from './work/job-payloads.ts'
import { postWebhook } from './work/post-webhook.ts'
import { createTurns } from './work/subscriber-slots.ts'

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
    inTurn: createTurns(),
    postWebhook: overrides.postWebhook ?? postWebhook,
    log,
    now,
    randomBytes,
  }
}
