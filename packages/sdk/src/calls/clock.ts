import { health } from '@svc/api/info'
import { type Context, gatewayNow } from '../context.ts'
import { attempt } from './attempt.ts'
import { readJsonAnswer } from './read-answer.ts'

/** Requests the service's time, because pages of other origins cannot read the Date header. */
export async function syncClock(context: Context, signal?: AbortSignal): Promise<void> {
  const response = await attempt(context, health, { signal })
  const { time } = (await readJsonAnswer(response).catch(() => ({}))) as { time?: string }
  const theirs = Date.parse(time ?? '')
  // The time is in whole seconds, so a difference of up to two is ignored.
  if (Math.abs(theirs - gatewayNow(context)) > 2000) context.clockLead = theirs - context.now()
}
