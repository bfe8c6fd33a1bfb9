import { health } from '@svc/api/info'
import { type Context, gatewayNow } from '../context.ts'
import { attempt } from './attempt.ts'

/** Asks for the service's time: web pages of other origins do not get to see the header Date. */
export async function learnClock(context: Context, signal?: AbortSignal): Promise<void> {
  const response = await attempt(context, health, { signal })
  const { time } = (await response.json().catch(() => ({}))) as { time?: string }
  const theirs = Date.parse(time ?? '')
  // It comes in whole seconds: a clock that agrees within two of them is right.
  if (Math.abs(theirs - gatewayNow(context)) > 2000) context.clockLead = theirs - context.now()
}
