import type { Retry } from '@svc/sdk'
import { GatewayError, NoAnswer } from '@svc/sdk/errors'
import { expect, it } from 'vitest'
import { retryNotice } from '../../src/output/retry-notice.ts'

const gone: Retry = { service: 'gateway', failures: 1, waitMs: 2000, error: new NoAnswer('no answer') }

it('a retry notice names the service and the delay, once for all requests that wait together', () => {
  let now = 0
  const lines: string[] = []
  const notice = retryNotice(
    (text) => void lines.push(text),
    () => now,
  )
  notice({ ...gone, waitMs: 500 })
  for (let i = 0; i < 4; i++) notice(gone)
  now = 2000
  const busy = new GatewayError(429, { error: 'RATE_LIMITED', message: 'too many', request_id: 'r' }, 30)
  notice({ ...gone, service: 'agent service', waitMs: 29_500, error: busy })
  expect(lines).toEqual([
    'The gateway does not answer; trying again in 2 s…',
    'The agent service answers RATE_LIMITED; trying again in 30 s…',
  ])
})
