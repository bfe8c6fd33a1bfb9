import { describe, expect, it } from 'vitest'
import { poll, retry } from '../src/retry.ts'

class TemporaryError extends Error {}
const isRetryable = (error: unknown) => error instanceof TemporaryError
const options = { attempts: 3, backoffMs: 1, isRetryable }

/** Fails with these errors in order, then succeeds. */
function failing(...errors: Error[]) {
  const attempts: number[] = []
  return {
    attempts,
    async step(attempt: number) {
      attempts.push(attempt)
      const error = errors.shift()
      if (error) throw error
      return 'done'
    },
  }
}

describe('retry', () => {
  it('runs a step again until it succeeds', async () => {
    const { attempts, step } = failing(new TemporaryError(), new TemporaryError())
    expect(await retry(step, options)).toBe('done')
    expect(attempts).toEqual([1, 2, 3])
  })

  it('throws the last error once the attempts are used up', async () => {
    const last = new TemporaryError('last')
    const { attempts, step } = failing(new TemporaryError(), new TemporaryError(), last)
    await expect(retry(step, options)).rejects.toBe(last)
    expect(attempts).toEqual([1, 2, 3])
  })

  it('throws an error that is not retryable without a second attempt', async () => {
    const { attempts, step } = failing(new Error('no'))
    await expect(retry(step, options)).rejects.toThrow('no')
    expect(attempts).toEqual([1])
  })

  it('begins no attempt after giveUpMs', async () => {
    const { attempts, step } = failing(new TemporaryError('late'))
    await expect(retry(step, { ...options, giveUpMs: -1 })).rejects.toThrow('late')
    expect(attempts).toEqual([1])
  })

  it('stops waiting when the signal is aborted', async () => {
    const controller = new AbortController()
    const { attempts, step } = failing(new TemporaryError())
    const retried = retry(step, { ...options, backoffMs: 1_000_000, signal: controller.signal })
    setImmediate(() => controller.abort(new Error('stopped')))
    await expect(retried).rejects.toThrow('stopped')
    expect(attempts).toEqual([1])
  })
})

describe('poll', () => {
  it('asks until there is an answer', async () => {
    const answers = [null, null, 'here']
    expect(await poll(async () => answers.shift() ?? null, { intervalMs: 1, timeoutMs: 60_000 })).toBe('here')
  })

  it('returns null when the time is up, after at least one call', async () => {
    let asked = 0
    const ask = async () => {
      asked++
      return null
    }
    expect(await poll(ask, { intervalMs: 1, timeoutMs: 0 })).toBeNull()
    expect(asked).toBe(1)
  })

  it('waits twice as long each time, up to the longest interval', async () => {
    const times: number[] = []
    const ask = async () => (times.push(performance.now()) < 5 ? null : 'here')
    await poll(ask, { intervalMs: 10, maxIntervalMs: 40, timeoutMs: 60_000 })
    const waits = times.slice(1).map((time, i) => time - times[i]!)
    for (const [i, least] of [10, 20, 40, 40].entries()) expect(waits[i]).toBeGreaterThan(least - 2)
  })
})
