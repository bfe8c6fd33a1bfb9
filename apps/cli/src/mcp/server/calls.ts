/** Running calls, so that a stopping server can wait for them. */
export interface Calls {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when no call is left or the timeout has passed. */
  drain(withinMs: number): Promise<void>
}

export function createCalls(): Calls {
  const running = new Set<Promise<unknown>>()
  return {
    run(work) {
      const task = work().finally(() => running.delete(task))
      running.add(task)
      return task
    },
    async drain(withinMs) {
      let timer: NodeJS.Timeout | undefined
      const timeout = new Promise((resolve) => {
        timer = setTimeout(resolve, withinMs)
      })
      await Promise.race([Promise.allSettled(running), timeout])
      clearTimeout(timer)
    },
  }
}
