// Connects the agent to the gateway through the SDK, like any client.

import { setTimeout } from 'node:timers/promises'
import { discovery } from '@svc/api/info'
import { singleFlight } from '@svc/concurrency/sharing'
import type { Database } from '@svc/database/open'
import { type Client, createClient, type Signer } from '@svc/sdk'
import type { Log } from '@svc/service/program/log'
import { ServiceError } from '@svc/service/service-error'
import type { Config } from '../config.ts'
import type { Schema } from '../db/schema.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { dbJournal } from './db-journal.ts'
import { createRetryLog } from './retry-log.ts'

export interface GatewayLink {
  /** Without a signer it can only read public data. */
  client(signer?: Signer): Client
  /**
   * Throws unless the gateway's payment addresses are known and differ from this service's: one payment must not buy
   * both storage and a subscription.
   */
  requireOtherTreasuries(): Promise<void>
  /** Whether the gateway responds and has different payment addresses. */
  isHealthy(): Promise<boolean>
}

export type WaitToRetry = (ms: number, signal?: AbortSignal) => Promise<void>

export interface GatewayLinkOptions {
  database: Pick<Database<Schema>, 'db' | 'commit'>
  config: Config
  now: () => number
  log: Log
  /** A real pause unless a test passes another one. */
  wait?: WaitToRetry | undefined
}

const TREASURIES_CACHED_MS = 600_000
/** A caller is waiting for a quote. */
const TREASURIES_TIMEOUT_MS = 5_000
const HEALTH_CACHED_MS = 10_000
/** Health checks must respond quickly. */
const HEALTH_TIMEOUT_MS = 2_000

export function openGatewayLink({ database, config, now, log, wait }: GatewayLinkOptions): GatewayLink {
  const { url: baseUrl, pinnedKeys } = config.gateway
  const journal = dbJournal(database)
  const { onRetry, onAnswer } = createRetryLog({ log, now })
  const onWarning = (text: string) => log.warn(text)
  const options = { baseUrl, pinnedKeys, journal, onWarning, onRetry, fetch: boundedFetch(onAnswer) }
  const client = (signer?: Signer) =>
    createClient({ ...options, ...(signer && { signer }) }, { now, ...(wait && { wait }) })
  const publicClient = client()
  const shareCheck = singleFlight<void>()
  let healthyAt = Number.NEGATIVE_INFINITY

  const wasHealthy = (withinMs: number) => Math.abs(now() - healthyAt) < withinMs
  const checkNow = () => shareCheck('treasuries', checkTreasuries)

  async function checkTreasuries(): Promise<void> {
    const shared = (await readTreasuries(publicClient)).find((treasury) => isOurs(config, treasury))
    healthyAt = shared ? Number.NEGATIVE_INFINITY : now()
    if (!shared) return
    log.error({ treasury: shared }, 'the gateway uses the same treasury; nothing is sold until one of the two changes')
    throw nothingSold()
  }

  return {
    client,
    async requireOtherTreasuries() {
      if (!wasHealthy(TREASURIES_CACHED_MS)) await checkNow()
    },
    async isHealthy() {
      if (wasHealthy(HEALTH_CACHED_MS)) return true
      const isHealthy = checkNow().then(
        () => true,
        () => false,
      )
      return Promise.race([isHealthy, setTimeout(HEALTH_TIMEOUT_MS, false, { ref: false })])
    },
  }
}

async function readTreasuries(client: Client): Promise<string[]> {
  try {
    const { body } = await client.call(discovery, { signal: AbortSignal.timeout(TREASURIES_TIMEOUT_MS) })
    return body.payment.networks.map(({ treasury }) => treasury)
  } catch (cause) {
    throw gatewayUnavailable(cause)
  }
}

/** The case of letters matters for all addresses except EVM addresses. */
function isOurs({ payments }: Config, treasury: string): boolean {
  return [...payments.chains].some(([{ family }, own]) =>
    family === 'evm' ? treasury.toLowerCase() === own.treasury.toLowerCase() : treasury === own.treasury,
  )
}

function nothingSold(): ServiceError {
  return new ServiceError('chain_unavailable', 'no payment method is available at the moment', {
    hint: "nothing was changed; contact this service's admin",
  })
}

export function gatewayUnavailable(cause: unknown): ServiceError {
  return new ServiceError('gateway_unavailable', 'the gateway is unavailable at the moment; nothing was changed', {
    hint: 'try again in a few seconds',
    headers: { 'retry-after': '5' },
    cause,
  })
}
