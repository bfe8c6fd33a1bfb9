import { forEachDatabase } from '@svc/devnet/databases'
import { ed25519Identity, openTestGateway, type TestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { JobPayloads } from '../../src/jobs/job-payloads.ts'
import { openTestSession } from '../adapters/http/sessions/sessions.ts'
import { storeFile } from '../files/files.ts'

forEachDatabase('jobs', (database) => {
  let instance: TestGateway
  let locker: TestLocker
  beforeAll(async () => {
    instance = await openTestGateway({ DATABASE_URL: database.url })
    locker = await instance.locker(ed25519Identity())
    await instance.gateway.context.queue.drain()
  })
  afterAll(() => instance.close())

  async function run<Kind extends keyof JobPayloads>(kind: Kind, payload: JobPayloads[Kind]) {
    const { queue, database } = instance.gateway.context
    await writable(database.db)
      .transaction()
      .execute((tx) => queue.enqueue(tx, kind, payload))
    return queue.drain()
  }
  const count = async (table: 'nonces' | 'rate_limits' | 'objects' | 'attestations' | 'payment_codes') => {
    const { db } = instance.gateway.context.database
    return (await db.selectFrom(table).selectAll().execute()).length
  }

  it('EVT-02 jobs attest, attest payments and finalize uploads with the same results as their endpoints', async () => {
    const { receiptId: receipt_id } = locker
    await locker.put('a', 'a')
    expect(await run('attest', { receipt_id })).toEqual({ done: 1, failed: 0, dead: 0 })
    expect(await count('attestations')).toBe(1)
    expect(await run('attest-payment', { receipt_id })).toEqual({ done: 1, failed: 0, dead: 0 })
    expect(await count('payment_codes')).toBe(1)
    const session = await openTestSession(instance, locker, { files: [{ filename: 'b' }] })
    await session.raw(0, 'b')
    const { session_id } = session.opened
    expect(await run('finalize-upload', { session_id })).toEqual({ done: 1, failed: 0, dead: 0 })
    expect((await session.status()).body.status).toBe('complete')
  })

  it('T-04 STATE-13 housekeeping runs on schedule and removes expired rows and objects', async () => {
    const limited = await openTestGateway(
      { DATABASE_URL: database.url, RATE_LIMITS: 'signer=60/min' },
      { now: instance.clock.now },
    )
    const { context } = limited.gateway
    const own = await limited.locker(ed25519Identity())
    await storeFile(limited, own, 'a', 'first')
    await storeFile(limited, own, 'a', 'second')
    const session = await openTestSession(limited, own, { files: [{ filename: 'x' }], ttl_min: 10 })
    await session.raw(0, 'x')
    expect(await count('nonces')).toBeGreaterThan(0)
    expect(await count('rate_limits')).toBeGreaterThan(0)
    const objects = await count('objects')
    instance.clock.advance(3600)
    await context.queue.drain()
    expect(await count('nonces')).toBe(0)
    expect(await count('rate_limits')).toBe(0)
    const { db } = context.database
    const ended = db.selectFrom('upload_sessions').select('status').where('session_id', '=', session.opened.session_id)
    expect(await ended.executeTakeFirst()).toEqual({ status: 'failed' })
    // The replaced object is deleted; the object of the session has just been released.
    expect(await count('objects')).toBe(objects - 1)
    instance.clock.advance(3600)
    await context.queue.drain()
    expect(await count('objects')).toBe(objects - 2)
    await limited.close()
  })
})
