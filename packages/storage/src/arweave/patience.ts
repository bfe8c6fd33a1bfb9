import { setTimeout } from 'node:timers/promises'
import type { Patience } from '../timeouts.ts'
import { isBroken, mayPass } from './errors.ts'

/** To put the chunks of an upload together takes the service a while. */
export const PATIENCE: Patience = {
  connectMs: 10_000,
  continueMs: 1_000,
  answerMs: 60_000,
  idleMs: 30_000,
  attempts: 4,
  backoffMs: 500,
}

/** Does what may be done twice again while its trouble may pass. */
export async function retrying(
  { attempts, backoffMs }: Patience,
  signal: AbortSignal,
  step: () => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await step()
    } catch (error) {
      signal.throwIfAborted()
      if (tries === attempts || !mayPass(error)) throw error
    }
    await setTimeout(backoffMs * 2 ** (tries - 1), undefined, { signal })
  }
}

/** That a connection which was kept has been closed shows only when it is used. For what changes nothing. */
export async function askingTwice<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (isBroken(error)) return ask()
    throw error
  }
}
