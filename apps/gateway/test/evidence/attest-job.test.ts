import { rm } from 'node:fs/promises'
import type { AttestQueued } from '@svc/api/attestations'
import type { ErrorBody } from '@svc/api/errors'
import { forEachDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { ProviderError } from '@svc/storage/provider'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ATTEST_ATTEMPTS } from '../../src/evidence/attest-job.ts'
import {
  askToAttest,
  attest,
  expectChain,
  objectPath,
  queueToAttest,
  statementsOf,
  statusOf,
} from '../evidence/attest.ts'
import { type WatchedStorage, watchedStorage } from '../files/confirm/confirm.ts'
import { lockerRow } from '../files/files.ts'

/** More statements than any test makes, except those that use them up. */
const PER_DAY = 4
const SECONDS_EACH = 86_400 / PER_DAY

forEachDatabase('attesting in a job', (database) => {
  let instance: TestGateway
  let locker: TestLocker
  let storage: WatchedStorage
  let isStorageDown = false
  beforeAll(async () => {
    storage = await watchedStorage()
    const local = storage.providers.named('gcs')
    const absent: typeof local.absent = async (keys) => {
      if (isStorageDown) throw new ProviderError('unavailable', new Error('unplugged'))
      return local.absent(keys)
    }
    const providers = { ...storage.providers, named: () => ({ ...local, absent }) }
    const variables = {
      DATABASE_URL: database.url,
      STORAGE_DIR: storage.folder,
      RATE_LIMITS: `statements=${PER_DAY}/day`,
    }
    instance = await openTestGateway(variables, { providers })
  })
  afterAll(async () => {
    await instance.close()
    await storage.remove()
  })
  beforeEach(async () => {
    isStorageDown = false
    locker = await instance.locker(ed25519Identity())
  })
  const drain = () => instance.gateway.context.queue.drain()
  const deadLetters = () => instance.gateway.context.queue.deadLetters()

  it('ATT-09 STATE-09 answers immediately with a pending stub, and the job writes the record', async () => {
    await locker.put('a', 'a')
    const { receiptId: receipt_id, lockerId: locker_id } = locker
    const { baseUrl } = instance.gateway.context.config.http
    expect(await queueToAttest(instance, locker)).toEqual({
      ok: true,
      receipt_id,
      locker_id,
      attestation_status: 'pending',
      queued: true,
      job_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      push_result: null,
      verify_url: `${baseUrl}/v1/storage/verify?receipt_id=${receipt_id}`,
      poll_after_sec: 2,
    })
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'pending', sequence: null, proof_id: null })
    expect(await statementsOf(instance, locker)).toEqual([])
    instance.clock.advance(5)
    expect((await drain()).done).toBeGreaterThan(0)
    const since = Math.floor(instance.clock.now() / 1000)
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'computed', sequence: 1, status_since: since })
    expect(await attest(instance, locker)).toMatchObject({ unchanged: true, attestation: { evidence_seq: 1 } })
  })

  it('STATE-09 AMB-33 keeps a record readable until the next one replaces it, or unchanged files confirm it', async () => {
    await locker.put('a', 'a')
    const first = await attest(instance, locker)
    await locker.put('b', 'b')
    expect(await queueToAttest(instance, locker)).toMatchObject({ attestation_status: 'computed', queued: true })
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'computed', sequence: 1 })
    await drain()
    expect(await statusOf(instance, locker)).toMatchObject({ sequence: 2, proof_id: first.attestation.proof_id })
    expect((await queueToAttest(instance, locker)).attestation_status).toBe('computed')
    await drain()
    expect(await expectChain(instance, locker)).toHaveLength(2)
  })

  it('EVT-02 STATE-10 runs one job for many requests, and accepts a statement made while it waited', async () => {
    await locker.put('a', 'a')
    const asked = await Promise.all(Array.from({ length: 10 }, () => queueToAttest(instance, locker)))
    expect(asked.filter(({ job_id }) => job_id !== null)).toHaveLength(1)
    await attest(instance, locker)
    expect(await drain()).toMatchObject({ failed: 0, dead: 0 })
    expect(await expectChain(instance, locker)).toHaveLength(1)
  })

  describe('attesting beyond the daily limit of statements', () => {
    async function useDailyLimit(text: string) {
      for (let i = 0; i < PER_DAY; i++) {
        await locker.put('a', `${text} ${i}`)
        await attest(instance, locker)
      }
    }
    beforeEach(() => useDailyLimit('first'))

    it('T-34 ADD-59 refuses another statement with the time to wait, but still answers for unchanged files', async () => {
      expect(await attest(instance, locker)).toMatchObject({ unchanged: true })
      expect((await queueToAttest(instance, locker)).attestation_status).toBe('computed')
      await locker.put('a', 'more')
      for (const sync of [true, false]) {
        const refused = await askToAttest<ErrorBody>(instance, locker, { sync })
        expectRefusal(refused, 429, 'RATE_LIMITED')
        expect(refused.headers.get('retry-after')).toBe(String(SECONDS_EACH))
        expect(refused.body.details).toEqual({ limit_per_day: PER_DAY, retry_after_seconds: SECONDS_EACH })
      }
      instance.clock.advance(SECONDS_EACH)
      expect(await attest(instance, locker)).toMatchObject({ unchanged: false })
      await locker.put('a', 'and more')
      expectRefusal(await askToAttest(instance, locker), 429, 'RATE_LIMITED')
    })

    it('T-34 ADD-59 regains statements faster with more units, and never more than one day allows', async () => {
      await locker.put('a', 'more')
      const { db } = instance.gateway.context.database
      const terms = JSON.parse((await lockerRow(instance, locker)).terms) as { storage_limit_bytes: number }
      const of = writable(db).updateTable('lockers').where('locker_id', '=', locker.lockerId)
      const larger = { ...terms, storage_limit_bytes: 3 * terms.storage_limit_bytes }
      await of.set({ terms: JSON.stringify(larger) }).execute()
      expect((await askToAttest(instance, locker)).headers.get('retry-after')).toBe(String(SECONDS_EACH / 3))
      await of.set({ terms: JSON.stringify(terms) }).execute()
      instance.clock.advance(10 * 86_400)
      await useDailyLimit('again')
      await locker.put('a', 'too many')
      expectRefusal(await askToAttest(instance, locker), 429, 'RATE_LIMITED')
    })

    it('T-34 makes one statement of all later changes, and lets internal calls make more', async () => {
      const { queue, database } = instance.gateway.context
      const payload = { receipt_id: locker.receiptId }
      await locker.put('a', 'more')
      await writable(database.db)
        .transaction()
        .execute((tx) => queue.enqueue(tx, 'attest', payload, { key: locker.receiptId }))
      expect(await drain()).toMatchObject({ failed: 0, dead: 0 })
      expect(await statementsOf(instance, locker)).toHaveLength(PER_DAY)
      await locker.put('b', 'and more')
      instance.clock.advance(SECONDS_EACH)
      await drain()
      expect((await expectChain(instance, locker)).map(({ file_count }) => file_count).slice(PER_DAY)).toEqual([2])
      await locker.put('c', 'c')
      expectRefusal(await askToAttest(instance, locker), 429, 'RATE_LIMITED')
      expect((await instance.send('POST', '/v1/internal/attest', payload)).status).toBe(200)
      expect(await expectChain(instance, locker)).toHaveLength(PER_DAY + 2)
    })
  })

  it('INT-05 makes a job that can never succeed a dead letter, and deletes its stub', async () => {
    await locker.put('a', 'a')
    const { job_id } = await queueToAttest(instance, locker)
    await rm(await objectPath(instance, locker, 'a'))
    expect((await drain()).dead).toBe(1)
    expect(await statusOf(instance, locker)).toBeNull()
    const [dead] = await deadLetters()
    expect(dead).toMatchObject({ id: job_id, kind: 'attest', error: expect.stringContaining('EMPTY_FILE_LIST') })
    await locker.put('a', 'again')
    await queueToAttest(instance, locker)
    await drain()
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'computed', sequence: 1 })
  })

  it('INT-05 STATE-09 keeps the stub after a temporary failure, and retries the job', async () => {
    await locker.put('a', 'a')
    await queueToAttest(instance, locker)
    isStorageDown = true
    expect((await drain()).failed).toBe(1)
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'pending' })
    expectRefusal(await askToAttest(instance, locker), 503, 'STORAGE_UNAVAILABLE')
    isStorageDown = false
    instance.clock.advance(3600)
    await drain()
    expect(await statusOf(instance, locker)).toMatchObject({ status: 'computed', sequence: 1 })
  })

  it('INT-05 makes a job a dead letter after its last attempt fails', async () => {
    await locker.put('a', 'a')
    const { job_id } = await queueToAttest(instance, locker)
    isStorageDown = true
    for (let attempt = 1; attempt < ATTEST_ATTEMPTS; attempt++) {
      expect((await drain()).dead).toBe(0)
      expect(await statusOf(instance, locker)).toMatchObject({ status: 'pending' })
      instance.clock.advance(2 * 3600)
    }
    expect((await drain()).dead).toBe(1)
    expect(await statusOf(instance, locker)).toBeNull()
    expect((await deadLetters())[0]).toMatchObject({ id: job_id, attempts: ATTEST_ATTEMPTS })
  })
})

describe('a gateway that runs its own jobs', () => {
  it('ATT-05 EVT-02 makes a queued statement without another request', async () => {
    const instance = await openTestGateway({ RUN_JOBS: 'true' })
    const locker = await instance.locker(ed25519Identity())
    await locker.put('a', 'a')
    const { status } = await askToAttest<AttestQueued>(instance, locker, { sync: false })
    expect(status).toBe(202)
    await expect.poll(() => statusOf(instance, locker)).toMatchObject({ status: 'computed' })
    await instance.close()
  })
})
