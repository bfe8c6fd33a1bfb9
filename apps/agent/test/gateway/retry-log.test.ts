import { NoAnswer } from '@svc/sdk/errors'
import { createLog } from '@svc/service/program/log'
import { describe, expect, it } from 'vitest'
import { createRetryLog } from '../../src/gateway/retry-log.ts'

interface Line {
  level: number
  msg: string
}

const WARN = 40
const INFO = 30

function captureLog() {
  const lines: Line[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const log = createLog('info', { write, writeSoon: write, flush: () => {} })
  const logged = () => lines.splice(0).map(({ level, msg }) => [level, msg])
  return { log, logged }
}

const BEGUN = [WARN, expect.stringMatching(/retrying/)]
const OVER = [INFO, expect.stringMatching(/responds again/)]

describe('the retry log', () => {
  it('AGENT-01 records the start and the end of retries once, and at most once a minute', () => {
    const { log, logged } = captureLog()
    let now = 0
    const { onRetry, onAnswer } = createRetryLog({ log, now: () => now })
    const retry = { service: 'gateway', failures: 1, waitMs: 500, error: new NoAnswer('no answer') } as const
    onAnswer(200)
    for (let time = 0; time < 5; time++) onRetry(retry)
    for (const status of [500, 503, 429]) onAnswer(status)
    expect(logged()).toEqual([BEGUN])
    for (const status of [404, 200]) onAnswer(status)
    expect(logged()).toEqual([OVER])
    // Alternating, as when only one file cannot be read.
    for (let time = 0; time < 59; time++) {
      now += 1000
      onRetry(retry)
      onAnswer(200)
    }
    expect(logged()).toEqual([])
    now += 1000
    onRetry(retry)
    onAnswer(200)
    expect(logged()).toEqual([BEGUN, OVER])
    now -= 86_400_000
    onRetry(retry)
    expect(logged()).toEqual([BEGUN])
  })
})
