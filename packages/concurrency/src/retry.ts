// Runs a step again after an error, and polls until there is an answer.

interface RetryOptions {
  /** The maximum number of runs, the first included. */
  attempts: number
  /** The pause before the second attempt. It doubles before each further one. */
  backoffMs: number
  /** Whether the step may succeed next time. */
  isRetryable: (error: unknown) => boolean
  /** No further attempt is planned once this much time has passed. */
  giveUpMs?: number
  /** Ends the pause between two attempts. */
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
  /** The pause between the first two calls. */
  intervalMs: number
  /** The interval doubles up to this; without it, it stays the same. */
  maxIntervalMs?: number
  timeoutMs: number
  /** Stops the polling. */
  signal?: AbortSignal | undefined
}

/** Calls `ask` until it returns an answer. Null when the time is up. */
export async function poll<Answer>(
  ask: () => Promise<Answer | null>,
  { intervalMs, maxIntervalMs = intervalMs, timeoutMs, signal }: PollOptions,
): Promise<Answer | null> {
  const end = performance.now() + timeoutMs
  for (let ms = intervalMs; ; ms = Math.min(2 * ms, maxIntervalMs)) {
    const answer = await ask()
    if (answer !== null) return answer
    if (performance.now() >= end) return null
    await sleep(ms, signal)
  }
}

/** Random within the upper half, so that callers that failed together do not retry together. */
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
