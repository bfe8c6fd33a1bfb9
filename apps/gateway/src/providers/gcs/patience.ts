import { setTimeout } from 'node:timers/promises'
import { ProviderError } from '../provider.ts'

/** How long the store is waited for. */
export interface Patience {
  connectMs: number
  /** Without a byte in either direction, before the first one and later. */
  idleMs: number
  /** How often a step is tried. */
  attempts: number
  /** Before the second try; twice as long before each further one. */
  backoffMs: number
  /** No new try begins after this. */
  giveUpMs: number
}

export const PATIENCE: Patience = {
  connectMs: 10_000,
  idleMs: 60_000,
  attempts: 4,
  backoffMs: 250,
  giveUpMs: 90_000,
}

/** Trouble that may be over in a moment. */
export class PassingTrouble extends ProviderError {
  constructor(cause: unknown) {
    super('unavailable', cause)
  }
}

/** Does a step that may be done twice, again and again while its trouble may pass. */
export async function retrying<T>(patience: Patience, step: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const begun = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return await step()
    } catch (error) {
      const isOver = tries >= patience.attempts || performance.now() - begun > patience.giveUpMs
      if (isOver || !(error instanceof PassingTrouble)) throw error
    }
    await backOff(patience, tries, signal)
  }
}

/** At random within half of the time, so that those who failed together do not come again together. */
async function backOff({ backoffMs }: Patience, failures: number, signal?: AbortSignal): Promise<void> {
  const longest = backoffMs * 2 ** (failures - 1)
  try {
    await setTimeout(longest * (0.5 + Math.random() / 2), undefined, signal && { signal })
  } catch {
    signal?.throwIfAborted()
  }
}
