// What publishing has cost, and what there is to pay for it.

import { freshInProportion, refreshing } from '@svc/concurrency/caches'
import type { Context } from '../context.ts'
import type { Db, PublicationTable } from '../db/schema.ts'
import { createPublicationBalance, type PublicationKey, type ReadPublicationBalance } from './publication-balance.ts'
import { streamPublicationCosts } from './store.ts'

export interface PublicationTotals {
  byState: Record<PublicationTable['state'], number>
  feeLamports: number
  /** In accounts now: what was put in, less what came back out. */
  rentLamports: number
}

export interface PublishingCosts {
  balance: ReadPublicationBalance
  /** Null while the database does not tell. */
  totals: () => Promise<PublicationTotals | null>
}

const WAIT_MS = 8_000

type Parts = Pick<Context, 'config' | 'database' | 'now' | 'log'> & { publisher: PublicationKey | null }

export function createPublishingCosts(parts: Parts): PublishingCosts {
  const { database, now, log } = parts
  const find = () =>
    addUp(database.db).catch((error) => {
      log.warn({ err: error }, 'what publishing has cost cannot be read')
      return null
    })
  return {
    balance: createPublicationBalance(parts),
    totals: refreshing({ load: find, freshMs: freshInProportion, waitMs: WAIT_MS, now }),
  }
}

async function addUp(db: Db): Promise<PublicationTotals> {
  const byState = { sent: 0, landed: 0, finalized: 0, failed: 0, expired: 0 }
  let feeLamports = 0
  let rentLamports = 0
  for await (const { state, fee, rent } of streamPublicationCosts(db)) {
    byState[state]++
    // Also of one that the chain has lost again, which is hardly ever: what was counted stays counted.
    feeLamports += fee ?? 0
    if (state === 'landed' || state === 'finalized') rentLamports += rent ?? 0
  }
  return { byState, feeLamports, rentLamports }
}
