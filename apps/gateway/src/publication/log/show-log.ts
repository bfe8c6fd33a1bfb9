import type { LogState } from '@svc/api/log'
import { toHex } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { formatKey } from '@svc/protocol/transparency/note'
import type { Context } from '../../context.ts'
import { findCheckpoint } from './store.ts'

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
