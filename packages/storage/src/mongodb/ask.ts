import { setTimeout as pause } from 'node:timers/promises'
import type { CommandOperationOptions, MongoClient } from 'mongodb'
import { isTaken, isTimeOut, troubleOf } from './errors.ts'

/** Writes heed the signal as reads do, though only the types of reads say so. */
export type StepOptions = CommandOperationOptions & { signal: AbortSignal }

/**
 * Does one step at the provider, and again when it fails: every step must come to the same when it is done twice. Its
 * trouble is a `ProviderError`; only a key that is taken is thrown as it came.
 */
export type Ask = <T>(step: (options: StepOptions) => Promise<T>) => Promise<T>

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 100

/**
 * The signal is what ends a step that hangs: the driver's own `timeoutMS` does nothing any more, and its socket
 * time-out leaves a step waiting for good that was still sending. It says nothing once the step is over: a cursor may
 * outlive it.
 */
export function createAsk(client: MongoClient, answerWithinMs: number): Ask {
  return async (step) => {
    for (let attempt = 1; ; attempt++) {
      const patience = new AbortController()
      const timer = setTimeout(() => patience.abort(), answerWithinMs)
      try {
        // A client whose first attempt to connect failed does not try again by itself.
        await client.connect()
        return await step({ signal: patience.signal })
      } catch (error) {
        if (isTaken(error)) throw error
        const trouble = troubleOf(error)
        // Whoever has waited that long does not try again.
        const hasWaited = patience.signal.aborted || isTimeOut(error)
        if (attempt === ATTEMPTS || trouble.reason !== 'unavailable' || hasWaited) throw trouble
      } finally {
        clearTimeout(timer)
      }
      await pause(FIRST_PAUSE_MS * 4 ** (attempt - 1))
    }
  }
}
