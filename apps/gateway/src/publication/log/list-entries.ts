import type { Anchor } from '@svc/api/attestations'
import type { LogStatements } from '@svc/api/log'
import type { Context } from '../../context.ts'
import { publicAnchor } from '../../evidence/public-anchor.ts'
import type { StatementRecord } from '../../evidence/record.ts'
import { pageOfEntries } from './store.ts'

const PAGE = 100

/** Only what is published: the index of an entry is good for ever then. */
export async function listEntries(
  { database: { db }, publishedLog }: Context,
  { from = 0, limit = PAGE }: { from?: number; limit?: number },
): Promise<LogStatements> {
  const size = (await publishedLog.checkpoint())?.size ?? 0
  const rows = from < size ? await pageOfEntries(db, { from, end: size, limit }) : []
  const next = from + rows.length
  return {
    size,
    entries: rows.map(({ statement_digest, record, anchor }, i) => ({
      index: from + i,
      statement_digest,
      envelope: record === null ? null : ((JSON.parse(record) as StatementRecord).envelope ?? null),
      anchor: anchor === null ? null : publicAnchor(JSON.parse(anchor) as Anchor),
    })),
    next: next < size ? next : null,
  }
}
