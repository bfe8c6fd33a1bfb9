import type { Health } from '@svc/api/info'
import { poll } from '@svc/concurrency/retry'
import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { afterEach, expect, it, vi } from 'vitest'

/** The instance has its own clock, so only code that reads the clock of the process sees the jump. */
const database = forAllTests(() => createFreshDatabase('postgres'))
const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
const locker = forAllTests(() => instance.locker(ed25519Identity()))
afterEach(() => void vi.useRealTimers())

/** Resolves when the jump is detected: at the next connection, or at the next check every few seconds. */
async function jump(seconds: number): Promise<Health> {
  vi.useFakeTimers({ toFake: ['Date'], now: vi.getRealSystemTime() + seconds * 1000 })
  return healthWhere(({ continuity }) => Math.abs((continuity?.clock_ahead_seconds ?? 0) - seconds) <= 10)
}

async function healthWhere(holds: (health: Health) => boolean): Promise<Health> {
  const ask = async () => {
    const { status, body } = await instance.send<Health>('GET', '/health')
    expect(status).toBe(200)
    return holds(body) ? body : null
  }
  const health = await poll(ask, { intervalMs: 100, timeoutMs: 60_000 })
  if (!health) throw new Error('the health did not change in time')
  return health
}

const create = (filename: string) =>
  locker.call(['locker:write'], 'POST', '/files', { filename, content_type: 'text/plain' })

it('T-88 a replica whose clock differs from that of the database sells and signs nothing, begins no job, and recovers', {
  tags: ['nightly'],
}, async () => {
  const { queue } = instance.gateway.context
  expect((await create('a')).status).toBe(200)
  const right = ({ status, continuity }: Health) => status === 'ok' && continuity?.clock_ahead_seconds === 0
  await healthWhere(right)

  for (const seconds of [90, -90]) {
    const wrong = await jump(seconds)
    expect(wrong.status).toBe('degraded')
    expect(wrong.warnings).toContainEqual(expect.stringMatching(seconds > 0 ? / ahead of / : / behind /))
    const refused = await create('b')
    expectRefusal(refused, 503, 'database_behind')
    expect(refused.headers.get('retry-after')).toBe('10')
    expectRefusal(await instance.send('POST', '/v1/storage/request', { units: 1 }), 503, 'database_behind')
    expect((await locker.call(['locker:list'], 'GET', '/files')).status).toBe(200)
    expect(await queue.drain()).toEqual({ done: 0, failed: 0, dead: 0 })
    expect(await instance.gateway.context.metrics.text()).toMatch(/^svc_clock_wrong 1$/m)
  }

  vi.useRealTimers()
  await healthWhere(right)
  expect((await create('b')).status).toBe(200)
  expect((await queue.drain()).done).toBeGreaterThan(0)
})

it('T-88 a difference within the tolerance changes nothing', async () => {
  expect((await jump(20)).status).toBe('ok')
  expect((await create('c')).status).toBe(200)
})
