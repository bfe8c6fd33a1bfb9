// Keeps as many jobs of one kind running as it may, for as long as there are any.

export interface Worker {
  /** There may be jobs. */
  wake(): void
  /** Resolves when it is not about to begin any. */
  settled(): Promise<void>
}

/** `begin` takes at most so many jobs, and answers one promise for each, which never rejects. */
export function createWorker(concurrency: number, begin: (limit: number) => Promise<Promise<unknown>[]>): Worker {
  let running = 0
  let isAsked = false
  let beginning: Promise<void> | undefined

  async function beginWhileAsked(): Promise<void> {
    while (isAsked && running < concurrency) {
      isAsked = false
      const begun = await begin(concurrency - running)
      running += begun.length
      for (const job of begun) void job.then(ended)
    }
    beginning = undefined
  }

  function ended(): void {
    running--
    wake()
  }

  function wake(): void {
    isAsked = true
    if (running < concurrency) beginning ??= beginWhileAsked()
  }

  return { wake, settled: async () => beginning }
}
