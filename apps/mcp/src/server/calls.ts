/** Calls under way, so that a server that stops can let them end. */
export interface Calls {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when none is left, or when so many milliseconds have passed. */
  ended(withinMs: number): Promise<void>
}

export function createCalls(): Calls {
  const running = new Set<Promise<unknown>>()
  return {
    run(work) {
      const task = work().finally(() => running.delete(task))
      running.add(task)
      return task
    },
    async ended(withinMs) {
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise((resolve) => {
        timer = setTimeout(resolve, withinMs)
      })
      await Promise.race([Promise.allSettled(running), timeout])
      clearTimeout(timer)
    },
  }
}
