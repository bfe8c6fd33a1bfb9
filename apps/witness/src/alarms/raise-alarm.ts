import { type Context, unixNow } from '../context.ts'
import type { Db } from '../db/schema.ts'
import { insertAlarm, type NewAlarm } from './store.ts'

/** Once for each cause; a log that misbehaves in many ways fills neither disk nor log. */
export async function raiseAlarm(context: Pick<Context, 'log' | 'now'>, db: Db, alarm: NewAlarm): Promise<void> {
  const { origin, kind, cause, message } = alarm
  if (await insertAlarm(db, alarm, unixNow(context))) context.log.error({ origin, kind, cause }, message)
}
