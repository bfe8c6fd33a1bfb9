import { type Context, unixNow } from '../context.ts'
import type { Tx } from '../db/schema.ts'
import { insertAlarm, type NewAlarm, resolveAlarm, trimAlarms } from './store.ts'

/**
 * Raises an alarm once for each cause. A log that misbehaves in many ways must not fill the disk or the log file:
 * beyond the limit, one alarm per kind reports the excess (T-106).
 */
export async function raiseAlarm(context: Pick<Context, 'log' | 'now'>, tx: Tx, alarm: NewAlarm): Promise<void> {
  const { origin, kind, cause, message } = alarm
  const now = unixNow(context)
  const id = await insertAlarm(tx, alarm, now)
  if (id === null) return
  const more = { origin, kind: 'too_many', cause: kind } as const
  if (await trimAlarms(tx, alarm, id)) {
    context.log.error({ origin, kind, cause }, message)
    await resolveAlarm(tx, more, now)
  } else if (kind !== more.kind) await raiseAlarm(context, tx, { ...more, ...tooMany(kind) })
}

function tooMany(kind: NewAlarm['kind']): Pick<NewAlarm, 'message' | 'evidence'> {
  return { message: `the log has exceeded the limit of stored alarms of the kind ${kind}`, evidence: [] }
}
