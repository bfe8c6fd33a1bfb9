// Starts a new transparency log. A log that has forked or permanently lost entries cannot continue: everyone who has
// seen it rejects its next checkpoint. It ends with its last signed checkpoint, and another log starts with all
// statements of the database, under a new name.

import { fromHex } from '@svc/protocol/bytes'
import { formatKey, isKeyName } from '@svc/protocol/transparency/note'
import type { Context } from '../../../context.ts'
import type { PublishedLog } from '../../../publication/log/published.ts'
import {
  clearLog,
  endedLogs,
  findCosigned,
  findLog,
  insertLog,
  lockLogs,
  newestCheckpoint,
  waitForWriter,
} from '../../../publication/log/store.ts'
import type { Actor } from '../actors.ts'
import { appendAudit } from '../audit.ts'

export interface BegunLog {
  origin: string
  ended: { origin: string; vkey: string; checkpoints: string[] }
}

export async function beginLog(context: Context, actor: Actor, origin: string, reason: string): Promise<BegunLog> {
  if (!isKeyName(origin))
    throw new Error('--new-log must be the name of the new log without spaces, as in gateway.example/log-2')
  const published = await publishedNote(context.publishedLog)
  return context.database.commit(async (tx) => {
    await waitForWriter(tx)
    await lockLogs(tx)
    const log = await findLog(tx)
    const last = await newestCheckpoint(tx)
    if (!log || !last) throw new Error('the log has signed nothing yet: set LOG_ORIGIN to rename it')
    const earlier = [log, ...(await endedLogs(tx))]
    if (earlier.some((ended) => ended.origin === origin))
      throw new Error(`${origin} names a log that has already signed: witnesses reject a log that starts again`)
    const recorded = await findCosigned(tx, last)
    const ended = {
      origin: log.origin,
      vkey: formatKey({ name: log.origin, type: 'log', publicKey: fromHex(log.public_key_hex) as Uint8Array }),
      checkpoints: published === null || published === recorded ? [recorded] : [recorded, published],
    }
    await clearLog(tx)
    await insertLog(tx, { ...log, origin })
    const act = { actor: actor.identity, action: 'begin_log' as const, target: 'log', reason }
    await appendAudit(context, tx, { ...act, details: { ...ended, next: origin } })
    return { origin, ended }
  })
}

/** Null if it belongs to another log, or if it was lost with its tiles. */
async function publishedNote(published: PublishedLog): Promise<string | null> {
  return (await published.newest().catch(() => null))?.text ?? null
}
