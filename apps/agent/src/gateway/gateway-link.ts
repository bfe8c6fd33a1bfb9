// The gateway as the agent reaches it: through the SDK, as any client does.

import { setTimeout } from 'node:timers/promises'
import { discovery } from '@svc/api/info'
import type { Log } from '@svc/http-service/log'
import { ServiceError } from '@svc/http-service/service-error'
import { type Client, createClient, type Signer } from '@svc/sdk'
import type { Config } from '../config.ts'
import type { Db } from '../db/schema.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { dbJournal } from './db-journal.ts'
import { createWaitNotes } from './note-waits.ts'

export interface GatewayLink {
  /** Signs with what it is given; without, reads what anybody may read. */
  client(signer?: Signer): Client
  /**
   * Throws as long as the gateway is not known to be paid elsewhere than this service: a payment for storage must not
   * also buy a subscription, nor the other way round.
   */
  requireOtherTreasuries(): Promise<void>
  /** Whether it answers, and is paid elsewhere. */
  isFit(): Promise<boolean>
}

export interface GatewayLinkOptions {
  db: Db
  config: Config
  now: () => number
  log: Log
}

const TREASURIES_KEPT_MS = 600_000
/** Somebody waits for a quote meanwhile. */
const LOOK_WITHIN_MS = 5_000
const HEALTH_KEPT_MS = 10_000
/** Who asks for our health takes silence for bad health. */
const HEALTH_WITHIN_MS = 2_000

export function openGatewayLink({ db, config, now, log }: GatewayLinkOptions): GatewayLink {
  const { url: baseUrl, pinnedKeys } = config.gateway
  const journal = dbJournal(db)
  const { onRetry, onAnswer } = createWaitNotes({ log, now })
  const onWarning = (text: string) => log.warn(text)
  const options = { baseUrl, pinnedKeys, journal, onWarning, onRetry, fetch: boundedFetch(onAnswer) }
  const client = (signer?: Signer) => createClient({ ...options, ...(signer && { signer }) })
  const anybody = client()
  let foundFitAt = Number.NEGATIVE_INFINITY
  let look: Promise<void> | null = null

  const isKnownFit = (keptMs: number) => Math.abs(now() - foundFitAt) < keptMs

  /** Many who want to know at once ask once. */
  function lookNow(): Promise<void> {
    look ??= lookAtTreasuries().finally(() => {
      look = null
    })
    return look
  }

  async function lookAtTreasuries(): Promise<void> {
    const shared = (await readTreasuries(anybody)).find((treasury) => isOurs(config, treasury))
    foundFitAt = shared ? Number.NEGATIVE_INFINITY : now()
    if (!shared) return
    log.error({ treasury: shared }, 'this is the treasury of the gateway, too: nothing is sold until one has another')
    throw nothingSold()
  }

  return {
    client,
    async requireOtherTreasuries() {
      if (!isKnownFit(TREASURIES_KEPT_MS)) await lookNow()
    },
    async isFit() {
      if (isKnownFit(HEALTH_KEPT_MS)) return true
      const isFound = lookNow().then(
        () => true,
        () => false,
      )
      return Promise.race([isFound, setTimeout(HEALTH_WITHIN_MS, false, { ref: false })])
    },
  }
}

async function readTreasuries(client: Client): Promise<string[]> {
  try {
    const { body } = await client.call(discovery, { signal: AbortSignal.timeout(LOOK_WITHIN_MS) })
    return body.payment.networks.map(({ treasury }) => treasury)
  } catch (cause) {
    throw gatewayUnavailable(cause)
  }
}

/** EVM addresses are the same in any case; those of the primary chain are not. */
function isOurs({ payments: { primary, evm } }: Config, treasury: string): boolean {
  return treasury === primary?.treasury || treasury.toLowerCase() === evm?.treasury.toLowerCase()
}

function nothingSold(): ServiceError {
  return new ServiceError('chain_unavailable', 'no way to pay is available right now', {
    hint: 'whoever runs this service has to look at it; nothing was done',
  })
}

export function gatewayUnavailable(cause: unknown): ServiceError {
  return new ServiceError('gateway_unavailable', 'the gateway cannot be asked right now; nothing was done', {
    hint: 'try again in a few seconds',
    headers: { 'retry-after': '5' },
    cause,
  })
}
