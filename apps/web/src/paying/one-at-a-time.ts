// Runs work on payments one at a time, in this page and among the tabs of this browser.

/** Runs one task at a time: a new task aborts the running one. A task must check its signal after each wait. */
export function oneAtATime() {
  let running: AbortController | null = null
  let ended: Promise<void> = Promise.resolve()
  const stop = () => {
    running?.abort()
    running = null
  }
  return {
    stop,
    isBusy: () => running !== null,
    /** Resolves when the aborted task has released its locks. */
    ended: () => ended,
    run(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
      stop()
      const mine = new AbortController()
      running = mine
      const done = ended.then(async () => {
        try {
          if (!mine.signal.aborted) await work(mine.signal)
        } finally {
          if (running === mine) running = null
        }
      })
      ended = done.catch(() => {})
      return done
    },
  }
}

const PREFIX = 'svc page purchase '

/**
 * Runs while no other tab works on the purchase. `onWait` is called if one does. Without Web Locks, which browsers have
 * in secure contexts only, the journal of payments alone keeps tabs apart.
 */
export async function withPurchase(
  id: string,
  signal: AbortSignal,
  run: () => Promise<void>,
  onWait: () => void,
): Promise<void> {
  if (await withFreePurchase(id, run)) return
  onWait()
  await navigator.locks.request(PREFIX + id, { signal }, run)
}

/** Runs unless another tab works on the purchase; returns whether it did. */
export async function withFreePurchase(id: string, run: () => Promise<void>): Promise<boolean> {
  const { locks } = navigator
  if (!locks) {
    await run()
    return true
  }
  return locks.request(PREFIX + id, { ifAvailable: true }, async (lock) => {
    if (lock) await run()
    return lock !== null
  })
}
