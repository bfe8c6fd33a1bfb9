import { keys } from '@svc/api/info'
import { createLog } from '@svc/http-service/log'
import { NoAnswer } from '@svc/sdk/errors'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createWaitNotes } from '../../src/gateway/retry-log.ts'
import { type Agency, openAgency } from '../agent-stack.ts'

interface Line {
  level: number
  msg: string
}

const WARN = 40
const INFO = 30

function openNotebook() {
  const lines: Line[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const log = createLog('info', { write, writeSoon: write, flush: () => {} })
  const said = () => lines.splice(0).map(({ level, msg }) => [level, msg])
  return { log, said }
}

const BEGUN = [WARN, expect.stringMatching(/asked again/)]
const OVER = [INFO, expect.stringMatching(/answers again/)]

describe('that the gateway is waited for', () => {
  it('AGENT-01 is said when it begins and when it is over, however many wait, and no more often than once a minute', () => {
    const { log, said } = openNotebook()
    let now = 0
    const { onRetry, onAnswer } = createWaitNotes({ log, now: () => now })
    const retry = { service: 'gateway', failures: 1, waitMs: 500, error: new NoAnswer('no answer') } as const
    onAnswer(200)
    for (let time = 0; time < 5; time++) onRetry(retry)
    for (const status of [500, 503, 429]) onAnswer(status)
    expect(said()).toEqual([BEGUN])
    for (const status of [404, 200]) onAnswer(status)
    expect(said()).toEqual([OVER])
    // By turns, as where one file alone cannot be read.
    for (let time = 0; time < 59; time++) {
      now += 1000
      onRetry(retry)
      onAnswer(200)
    }
    expect(said()).toEqual([])
    now += 1000
    onRetry(retry)
    onAnswer(200)
    expect(said()).toEqual([BEGUN, OVER])
    now -= 86_400_000
    onRetry(retry)
    expect(said()).toEqual([BEGUN])
  })
})

describe('a client of the service', () => {
  const { log, said } = openNotebook()
  let agency: Agency
  beforeAll(async () => {
    agency = await openAgency({}, { log })
  })
  afterAll(() => agency.close())
  afterEach(() => agency.between.behave())

  it('AGENT-01 that waits for the gateway says so in the log of the service, once for all tries', async () => {
    said()
    agency.between.plan(/v1\/keys/, { cut: 'request' }, { cut: 'answer' })
    await agency.agent.context.gateway.client().call(keys)
    expect(said()).toEqual([BEGUN, OVER])
  })
})
