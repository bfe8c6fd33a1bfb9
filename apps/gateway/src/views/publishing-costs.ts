// What the publication key, which pays for anchors, has left, and what publishing has cost.

import { freshInProportion, refreshing } from '@svc/concurrency/caches'
import type { Context } from '../context.ts'
import type { Db, PublicationTable } from '../db/schema.ts'
import { recentAnchorCosts, streamPublicationCosts } from './store.ts'

export interface PublishingCosts {
  balance: ReadPublicationBalance
  /** Null while the database is unavailable. */
  totals: () => Promise<PublicationTotals | null>
}

type ReadPublicationBalance = () => Promise<PublicationBalance>

/** `failing`: no node answers. `disabled`: the gateway publishes nothing. */
export type PublicationBalance = KnownBalance | { state: 'failing' | 'disabled' }

export interface KnownBalance {
  state: 'ok' | 'low'
  /** Base58. */
  address: string
  lamports: bigint
  /** An estimate, from the cost of recent anchors. */
  anchorsLeft: bigint
}

export interface PublicationTotals {
  byState: Record<PublicationTable['state'], number>
  feeLamports: number
  /** Locked in accounts at present: deposits minus refunds. */
  rentLamports: number
}

/** The key that pays for anchors, and the nodes that report its balance. */
interface PublicationKey {
  /** Base58. */
  signer: string
  nodes: { balance(address: string): Promise<bigint> }
}

type Parts = Pick<Context, 'config' | 'database' | 'now' | 'log'> & { primaryChain: PublicationKey | null }

const TOTALS_WAIT_MS = 8_000

export function createPublishingCosts(parts: Parts): PublishingCosts {
  const { database, now, log } = parts
  const load = () =>
    addUp(database.db).catch((error) => {
      log.warn({ err: error }, 'the publishing costs cannot be read')
      return null
    })
  return {
    balance: createBalance(parts),
    totals: refreshing({ load, freshMs: freshInProportion, waitMs: TOTALS_WAIT_MS, now }),
  }
}

const BALANCE_FRESH_MS = 30_000
const BALANCE_WAIT_MS = 2_000
/** The chain rejects a transaction that would leave its payer with less than this. */
const UNSPENDABLE = 890_880n

function createBalance({ primaryChain, config, database, now }: Parts): ReadPublicationBalance {
  if (!primaryChain) return async () => ({ state: 'disabled' })
  const { nodes, signer: address } = primaryChain
  const low = BigInt(config.anchors.lowBalanceLamports)

  async function read() {
    const [lamports, cost] = await Promise.all([nodes.balance(address), expectedCost(database.db)])
    const spendable = lamports > UNSPENDABLE ? lamports - UNSPENDABLE : 0n
    return { lamports, anchorsLeft: spendable / cost }
  }

  const balance = refreshing({
    load: () => read().catch(() => null),
    freshMs: () => BALANCE_FRESH_MS,
    waitMs: BALANCE_WAIT_MS,
    now,
  })
  return async () => {
    const known = await balance()
    return known ? { state: known.lamports < low ? 'low' : 'ok', address, ...known } : { state: 'failing' }
  }
}

/** The fee of a transaction with one signature. */
const BASE_FEE = 5_000n

/** The average cost of recent anchors, including the rent that they locked in accounts. */
async function expectedCost(db: Db): Promise<bigint> {
  const costs = await recentAnchorCosts(db).catch(() => [])
  const total = costs.reduce((sum, { fee, rent }) => sum + BigInt(fee + rent), 0n)
  const average = costs.length > 0 ? total / BigInt(costs.length) : 0n
  return average > BASE_FEE ? average : BASE_FEE
}

async function addUp(db: Db): Promise<PublicationTotals> {
  const byState = { sent: 0, landed: 0, finalized: 0, failed: 0, expired: 0 }
  let feeLamports = 0
  let rentLamports = 0
  for await (const { state, fee, rent } of streamPublicationCosts(db)) {
    byState[state]++
    // A transaction that a fork dropped keeps its fee here: a counter must not decrease.
    feeLamports += fee ?? 0
    if (state === 'landed' || state === 'finalized') rentLamports += rent ?? 0
  }
  return { byState, feeLamports, rentLamports }
}
