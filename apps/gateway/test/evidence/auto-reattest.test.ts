import { Readable } from 'node:stream'
import type { ConfirmedFiles } from '@svc/api/confirm-files'
import { forEachDatabase } from '@svc/devnet/databases'
import { forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestSession } from '../adapters/http/sessions/sessions.ts'
import { confirm, confirmBatch, upload } from '../files/confirm/confirm.ts'
import { attest, expectChain, statusOf } from './attest.ts'

const source = () => ({ stream: Readable.from([Buffer.from('fetched')]), contentType: null, size: null, finalUrl: '' })

forEachDatabase('attesting after every confirmation', (database) => {
  let instance: TestGateway
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  beforeAll(async () => {
    const variables = { DATABASE_URL: database.url, AUTO_REATTEST: 'true' }
    instance = await openTestGateway(variables, { fetchSource: async () => source() })
  })
  afterAll(() => instance.close())

  /** Runs the jobs that are due after the batching delay of confirmations. */
  async function drain() {
    instance.clock.advance(2)
    return instance.gateway.context.queue.drain()
  }
  const records = () => expectChain(instance, locker)

  it('FILE-32 EVT-03 makes a statement, even the first one, without a pending stub', async () => {
    await upload(instance, locker, 'a', 'a')
    expect((await confirm(instance, locker, 'a')).status).toBe(200)
    expect(await statusOf(instance, locker)).toBeNull()
    await drain()
    expect(await records()).toHaveLength(1)
    await upload(instance, locker, 'b', 'b')
    await confirm(instance, locker, 'b')
    await drain()
    expect((await records()).map(({ file_count }) => file_count)).toEqual([1, 2])
  })

  it('FILE-32 FILE-25 makes one statement for a whole batch, and none when nothing was confirmed', async () => {
    const names = ['a', 'b', 'c']
    for (const name of names) await upload(instance, locker, name, name)
    await locker.put('closely followed', 'by the batch')
    const reattest = async () => (await confirmBatch(instance, locker, [...names, 'unknown'])).body.reattest
    expect(await reattest()).toBe('queued')
    expect(await reattest()).toBe('skipped')
    await drain()
    expect(await reattest()).toBe('skipped')
    await drain()
    expect((await records()).map(({ file_count }) => file_count)).toEqual([4])
  })

  it('FILE-32 EVT-03 makes no statement when the same bytes are uploaded again, in a job or on request', async () => {
    await locker.put('a', 'a')
    await drain()
    const [first] = await records()
    for (let i = 0; i < 2; i++) {
      await locker.put('a', 'a')
      await drain()
    }
    expect(await attest(instance, locker)).toMatchObject({ unchanged: true, attestation: { evidence_seq: 1 } })
    await locker.put('a', 'other')
    await locker.put('a', 'a')
    await drain()
    expect(await records()).toEqual([first])
    await locker.put('a', 'other')
    await drain()
    expect(await records()).toHaveLength(2)
  })

  it('EVT-03 covers fetched files and files of upload sessions, which are confirmed on arrival', async () => {
    const { receiptId, lockerId, owner } = locker
    const body = { locker_id: lockerId, receipt_id: receiptId, source_url: 'https://source.example/f' }
    const call = { method: 'POST', path: '/v1/files/fetch-and-store', ops: ['locker:write'], receiptId, lockerId, body }
    expect((await instance.call(owner, call)).status).toBe(200)
    await drain()
    expect(await records()).toHaveLength(1)
    const session = await openTestSession(instance, locker, { files: [{ filename: 'one' }, { filename: 'two' }] })
    await session.raw(0, 'one')
    await session.raw(0, 'two', { file: 1 })
    await session.finalize()
    await drain()
    expect((await records()).map(({ file_count }) => file_count)).toEqual([1, 3])
  })

  it('FILE-32 T-17 ends without an error when the confirmed file has been deleted meanwhile', async () => {
    await locker.put('a', 'a')
    await locker.call(['locker:write'], 'DELETE', '/files/a')
    expect(await drain()).toMatchObject({ failed: 0, dead: 0 })
    expect(await statusOf(instance, locker)).toBeNull()
  })
})

describe('a gateway with AUTO_REATTEST off', () => {
  it('FILE-32 EVT-03 attests only on request', async () => {
    const instance = await openTestGateway()
    const locker = await instance.locker(ed25519Identity())
    await upload(instance, locker, 'a', 'a')
    expect((await confirmBatch<ConfirmedFiles>(instance, locker, ['a'])).body.reattest).toBe('off')
    instance.clock.advance(2)
    await instance.gateway.context.queue.drain()
    expect(await statusOf(instance, locker)).toBeNull()
    await instance.close()
  })
})
