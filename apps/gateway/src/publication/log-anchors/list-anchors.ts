import type { Query } from '@svc/api/endpoint'
import type { LogAnchors, logAnchors } from '@svc/api/log'
import type { Context } from '../../context.ts'
import { logAnchorOf } from '../log/prove-statement.ts'
import { pageOfLogAnchors } from './store.ts'

const PAGE = 100

export async function listLogAnchors(
  { database }: Pick<Context, 'database'>,
  { limit = PAGE, cursor }: Query<typeof logAnchors>,
): Promise<LogAnchors> {
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : Math.min(Number(cursor), Number.MAX_SAFE_INTEGER)
  const rows = await pageOfLogAnchors(database.db, before, limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    anchors: page.map(logAnchorOf),
    ...(last && rows.length > limit && { next_cursor: String(last.size) }),
  }
}
