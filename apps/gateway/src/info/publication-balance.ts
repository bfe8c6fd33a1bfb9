// What the publication key has left to pay for anchors with.

import { refreshing } from '@svc/concurrency/caches'
import type { Context } from '../context.ts'
import { recentAnchorCosts } from './store.ts'

export interface KnownBalance {
  state: 'ok' | 'low'
  /** Base58. */
  address: string
  lamports: bigint
  /** For how many it is likely to last. */
  anchorsLeft: bigint
}

/** `failing`: no node answers. `disabled`: nothing is published. */
export type PublicationBalance = KnownBalance | { state: 'failing' | 'disabled' }

export type ReadPublicationBalance = () => Promise<PublicationBalance>

const KNOWN_FOR_MS = 30_000
const WAIT_MS = 2_000
/** What a transaction with one signature costs at least. */
const BASE_FEE = 5_000n
/** The chain refuses transactions that would leave their payer less than this. */
const UNSPENDABLE = 890_880n

/** The key that pays for anchors, and the nodes that know what it holds. */
export interface PublicationKey {
  /** Base58. */
  signer: string
  nodes: { balance(address: string): Promise<bigint> }
}

type Parts = Pick<Context, 'config' | 'database' | 'now'> & { publisher: PublicationKey | null }

export function createPublicationBalance({ publisher, config, database, now }: Parts): ReadPublicationBalance {
  if (!publisher) return async () => ({ state: 'disabled' })
  const { nodes, signer: address } = publisher
  const low = BigInt(config.anchors.lowBalanceLamports)

  async function read() {
    const [lamports, cost] = await Promise.all([nodes.balance(address), expectedCost()])
    const spendable = lamports > UNSPENDABLE ? lamports - UNSPENDABLE : 0n
    return { lamports, anchorsLeft: spendable / cost }
  }

  /** As the last ones cost, with what they locked in accounts. */
  async function expectedCost(): Promise<bigint> {
    const costs = await recentAnchorCosts(database.db).catch(() => [])
    const total = costs.reduce((sum, { fee, rent }) => sum + BigInt(fee + rent), 0n)
    const average = costs.length > 0 ? total / BigInt(costs.length) : 0n
    return average > BASE_FEE ? average : BASE_FEE
  }

  const balance = refreshing({
    load: () => read().catch(() => null),
    freshMs: () => KNOWN_FOR_MS,
    waitMs: WAIT_MS,
    now,
  })
  return async () => {
    const known = await balance()
    return known ? { state: known.lamports < low ? 'low' : 'ok', address, ...known } : { state: 'failing' }
  }
}
