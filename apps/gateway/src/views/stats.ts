// The public numbers of this gateway.

import type { Stats } from '@svc/api/info'
import { ROLES } from '@svc/api/networks'
import { refreshing } from '@svc/concurrency/caches'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import { countRows, lastPublication, streamProvenFiles } from './store.ts'

export type ReadStats = () => Promise<Stats>

const WAIT_MS = 2_000
const NONE: Stats = { lockers: null, files_proven: null, last_anchor: null, as_of: null }

/** Visitors share one count. Counting takes at most a hundredth of the time, however many rows there are. */
export function createStats(context: Pick<Context, 'database' | 'now' | 'log'>): ReadStats {
  const { now, log } = context
  const load = () =>
    count(context).catch((error) => {
      log.warn({ err: error }, 'the public statistics cannot be counted')
      return null
    })
  const stats = refreshing({ load, freshMs: (loadMs) => Math.max(60_000, 100 * loadMs), waitMs: WAIT_MS, now })
  return async () => (await stats()) ?? NONE
}

async function count(context: Pick<Context, 'database' | 'now'>): Promise<Stats> {
  const { db } = context.database
  const lockers = await countRows(db, 'lockers')
  const last = await lastPublication(db)
  let files_proven = 0
  for await (const { file_count } of streamProvenFiles(db)) files_proven += file_count
  return {
    lockers,
    files_proven,
    last_anchor: last && { network: ROLES.publication.caip2, tx: last.tx, sent_at: isoSeconds(last.sent_at) },
    as_of: isoSeconds(unixNow(context)),
  }
}
