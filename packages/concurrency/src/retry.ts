// Trying again, and asking again until there is an answer.

interface RetryOptions {
  /** How often the step runs at most. */
  attempts: number
  /** Before the second attempt; doubles before each further one. */
  backoffMs: number
  /** Whether the same step may succeed next time. */
  isRetryable: (error: unknown) => boolean
  /** No attempt begins later than this after the first. */
  giveUpMs?: number
  /** Ends the waiting between two attempts. */
  signal?: AbortSignal | undefined
}

/** Runs a step until it succeeds, its error is not retryable, or the attempts are used up. */
export async function retry<Result>(
  step: (attempt: number) => Promise<Result>,
  { attempts, backoffMs, isRetryable, giveUpMs = Infinity, signal }: RetryOptions,
): Promise<Result> {
  const began = performance.now()
  for (let attempt = 1; ; attempt++) {
    try {
      return await step(attempt)
    } catch (error) {
      const isLast = attempt >= attempts || performance.now() - began > giveUpMs || signal?.aborted
      if (isLast || !isRetryable(error)) throw error
    }
    await sleep(jittered(backoffMs * 2 ** (attempt - 1)), signal)
  }
}

interface PollOptions {
  intervalMs: number
  timeoutMs: number
}

/** Asks until there is an answer, or the time is up: then null. */
export async function poll<Answer>(
  ask: () => Promise<Answer | null>,
  { intervalMs, timeoutMs }: PollOptions,
): Promise<Answer | null> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (performance.now() >= end) return null
    await sleep(intervalMs)
  }
}

/** Random within the upper half, so that callers that failed together do not come back together. */
function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2)
}

/** Rejects with the signal's reason once it is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
