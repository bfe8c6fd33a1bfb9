// Sends alarms to the admin's webhook; retries each until it is accepted.

import { findUnreported, recordReported } from '../alarms/store.ts'
import { alarmView } from '../alarms/view.ts'
import { type Context, unixNow } from '../context.ts'
import { boundedPost } from './bounded-get.ts'

const ALARMS_PER_ROUND = 20
const MAX_ANSWER_BYTES = 65_536

export async function reportAlarms(context: Context, signal: AbortSignal): Promise<void> {
  const { config, database, key, log } = context
  const { webhookUrl } = config.monitor
  if (webhookUrl === null) return
  for (const alarm of await findUnreported(database.db, ALARMS_PER_ROUND)) {
    try {
      await boundedPost(webhookUrl, { witness: key.name, alarm: alarmView(alarm) }, signal, MAX_ANSWER_BYTES)
    } catch (error) {
      log.warn({ alarm: alarm.id, problem: (error as Error).message }, 'the webhook did not accept an alarm')
      return
    }
    await database.commit((tx) => recordReported(tx, alarm.id, unixNow(context)))
  }
}
