import type { Anchor } from '@svc/api/attestations'
import type { LogState, LogStatements } from '@svc/api/log'
import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { formatKey } from '@svc/protocol/transparency/note'
import type { Context } from '../../context.ts'
import { publicAnchor } from '../../evidence/public-anchor.ts'
import type { StatementRecord } from '../../evidence/record.ts'
import { findCheckpoint, pageOfEntries } from './store.ts'

export async function showLog(context: Context): Promise<LogState> {
  const { config, logIdentity: identity, publishedLog, database } = context
  const checkpoint = await publishedLog.checkpoint()
  const recorded = checkpoint && (await findCheckpoint(database.db, checkpoint.size))
  return {
    origin: identity.key.name,
    vkey: formatKey(identity.key),
    url: `${config.http.baseUrl}/log`,
    size: checkpoint?.size ?? 0,
    root: checkpoint && toHex(checkpoint.root),
    checkpoint_at: recorded && isoSeconds(recorded.signed_at),
    witnesses: (config.transparency.policy?.witnesses ?? []).map(({ name, key, url }) => ({
      name,
      vkey: formatKey(key),
      url,
    })),
    ...(identity.ended.length > 0 && { ended: identity.ended }),
  }
}

const PAGE = 100

/** Only published entries, whose indexes never change. */
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
