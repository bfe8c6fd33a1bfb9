import { rm } from 'node:fs/promises'
import type { ErrorBody } from '@svc/api/errors'
import type { CronAttestAnswer } from '@svc/api/internal-attestations'
import { forEachDatabase, type TestDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import type { Variables } from '@svc/service/program/config'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { attest, expectChain, objectPath, statementsOf } from '../evidence/attest.ts'
import { watchedStorage } from '../files/confirm/confirm.ts'

const HOUR = 3600

/** These gateways have no logbook, because statements are deleted between the tests. */
const enabledOn = ({ url }: TestDatabase, variables: Variables = {}) =>
  openTestGateway({ DATABASE_URL: url, LOGBOOK_DIR: 'off', CRON_ATTEST_ENABLED: 'true', ...variables })

async function cron(instance: TestGateway, body: object = {}): Promise<CronAttestAnswer> {
  const reply = await instance.send<CronAttestAnswer>('POST', '/v1/internal/cron-attest', body)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}

async function attestedLocker(instance: TestGateway, tags: string[] = []): Promise<TestLocker> {
  const locker = await instance.locker(ed25519Identity(), { tags })
  await locker.put('a', 'a')
  await attest(instance, locker)
  return locker
}

const idsOf = ({ results }: CronAttestAnswer) => results.map(({ receipt_id }) => receipt_id)
const NOTHING = { selected: 0, attested: 0, pushed: 0, skipped: 0, failed: 0, results: [] }

forEachDatabase('cron-attest', (database) => {
  let instance: TestGateway
  beforeAll(async () => {
    instance = await enabledOn(database, { RATE_LIMITS: 'statements=6/day' })
  })
  afterAll(() => instance.close())
  beforeEach(async () => {
    const { db } = instance.gateway.context.database
    for (const table of ['attestations', 'statements', 'cron_failures'] as const)
      await writable(db).deleteFrom(table).execute()
  })

  async function openInstance(variables: Variables): Promise<TestGateway> {
    const other = await enabledOn(database, variables)
    onTestFinished(other.close)
    return other
  }

  it('CRON-01 INT-02 does nothing unless it is enabled', async () => {
    const instance = await openInstance({ CRON_ATTEST_ENABLED: 'false' })
    const locker = await attestedLocker(instance)
    instance.clock.advance(100 * HOUR)
    expect(await cron(instance)).toEqual({ ok: true, enabled: false, ...NOTHING })
    await instance.gateway.context.queue.drain()
    expect(await statementsOf(instance, locker)).toHaveLength(1)
  })

  it('CRON-04 FILE-32 a locker whose files were re-uploaded unchanged is checked once and gets no statement', async () => {
    const locker = await attestedLocker(instance)
    await locker.put('a', 'a')
    expect(await cron(instance)).toMatchObject({ selected: 1, attested: 0, skipped: 1, failed: 0 })
    expect(await cron(instance)).toMatchObject(NOTHING)
    expect(await statementsOf(instance, locker)).toHaveLength(1)
    instance.clock.advance(24 * HOUR)
    expect(await cron(instance)).toMatchObject({ selected: 1, attested: 1 })
    expect(await expectChain(instance, locker)).toHaveLength(2)
  })

  it('CRON-06 STATE-11 attests lockers that have changed or were attested a day ago', async () => {
    const [old, changed, fresh] = [
      await attestedLocker(instance),
      await attestedLocker(instance),
      await attestedLocker(instance),
    ]
    const never = await instance.locker(ed25519Identity())
    await never.put('a', 'a')
    instance.clock.advance(24 * HOUR - 1)
    expect(await cron(instance)).toEqual({ ok: true, enabled: true, ...NOTHING })
    await attest(instance, fresh)
    await instance.send('POST', '/v1/internal/attest', { receipt_id: fresh.receiptId, force: true })
    await instance.send('POST', '/v1/internal/attest', { receipt_id: changed.receiptId, force: true })
    await changed.put('b', 'b')
    instance.clock.advance(1)
    const results = [old, changed].map(({ receiptId }) => ({ receipt_id: receiptId, status: 'attested' }))
    expect(await cron(instance)).toEqual({ ok: true, enabled: true, ...NOTHING, selected: 2, attested: 2, results })
    const [first, second, ...more] = await expectChain(instance, old)
    expect([second!.snapshot_id, more]).toEqual([first!.snapshot_id, []])
    expect((await expectChain(instance, changed)).at(-1)).toMatchObject({ evidence_seq: 3, file_count: 2 })
    expect(await cron(instance)).toMatchObject(NOTHING)
  })

  it('CRON-04 T-34 postpones a locker that has used its statements of the day', async () => {
    const locker = await attestedLocker(instance)
    for (let i = 1; i < 6; i++) {
      await locker.put('a', `${i}`)
      await attest(instance, locker)
    }
    await locker.put('a', 'more')
    const waiting = { receipt_id: locker.receiptId, status: 'RATE_LIMITED' }
    expect(await cron(instance)).toMatchObject({ selected: 1, attested: 0, failed: 1, results: [waiting] })
    expect(await cron(instance)).toMatchObject(NOTHING)
    instance.clock.advance(4 * HOUR)
    expect(await cron(instance)).toMatchObject({ selected: 1, attested: 1, failed: 0 })
    expect(await expectChain(instance, locker)).toHaveLength(7)
  })

  it('CRON-03 CRON-05 attests one batch per run, oldest statement first', async () => {
    const instance = await openInstance({ CRON_ATTEST_BATCH_SIZE: '2' })
    const lockers: TestLocker[] = []
    for (let i = 0; i < 5; i++) {
      lockers.push(await attestedLocker(instance))
      instance.clock.advance(10)
    }
    instance.clock.advance(24 * HOUR)
    const ids = lockers.map(({ receiptId }) => receiptId)
    expect(idsOf(await cron(instance))).toEqual(ids.slice(0, 2))
    expect(idsOf(await cron(instance))).toEqual(ids.slice(2, 4))
    expect(idsOf(await cron(instance))).toEqual(ids.slice(4))
    expect(await cron(instance)).toMatchObject(NOTHING)
  })

  it('INT-02 a dry run lists due lockers and changes nothing', async () => {
    const locker = await attestedLocker(instance)
    instance.clock.advance(24 * HOUR)
    const results = [{ receipt_id: locker.receiptId, status: 'due' }]
    for (const _ of ['once', 'twice'])
      expect(await cron(instance, { dry_run: true })).toMatchObject({ ...NOTHING, selected: 1, results })
    expect(await statementsOf(instance, locker)).toHaveLength(1)
  })

  it('CRON-05 the filter "unchanged" selects lockers with an old statement and no changes', async () => {
    const instance = await openInstance({ CRON_ATTEST_FILTER: 'unchanged' })
    const [same, changed] = [await attestedLocker(instance), await attestedLocker(instance)]
    await changed.put('b', 'b')
    expect(await cron(instance)).toMatchObject(NOTHING)
    instance.clock.advance(24 * HOUR)
    expect(idsOf(await cron(instance))).toEqual([same.receiptId])
  })

  it.each<[string, Variables, chosen: string[][], others: string[][]]>([
    [
      '"opted_in" selects lockers with exactly the tag cron_attest',
      { CRON_ATTEST_FILTER: 'opted_in' },
      [['cron_attest'], ['x', 'cron_attest', 'y']],
      [[], ['cron_attests'], ['CRON_ATTEST'], ['x"cron_attest'], ['["cron_attest"]']],
    ],
    [
      '"tier" selects lockers with the tag of a configured tier',
      { CRON_ATTEST_FILTER: 'tier', CRON_ATTEST_TIERS: 'gold,100%' },
      [['tier:gold'], ['a', 'tier:100%']],
      [['gold'], ['tier:silver'], ['tier:100'], ['tier:golden']],
    ],
  ])('CRON-05 the filter %s', async (_, variables, tagged, others) => {
    const instance = await openInstance(variables)
    const chosen: string[] = []
    for (const tags of tagged) chosen.push((await attestedLocker(instance, tags)).receiptId)
    for (const tags of others) await attestedLocker(instance, tags)
    instance.clock.advance(24 * HOUR)
    expect(idsOf(await cron(instance)).sort()).toEqual(chosen.sort())
  })

  it('CRON-03 CRON-04 pauses a locker that cannot be attested, and continues with the others', async () => {
    const instance = await openInstance({ CRON_ATTEST_BATCH_SIZE: '1' })
    const empty = await attestedLocker(instance)
    const healthy = await attestedLocker(instance)
    await rm(await objectPath(instance, empty, 'a'))
    instance.clock.advance(24 * HOUR)
    // Both statements are equally old, so the lockers are ordered by id.
    const runs = [await cron(instance), await cron(instance)]
    expect(runs.flatMap(({ results }) => results).toSorted((a, b) => (a.status < b.status ? -1 : 1))).toEqual([
      { receipt_id: empty.receiptId, status: 'EMPTY_FILE_LIST' },
      { receipt_id: healthy.receiptId, status: 'attested' },
    ])
    expect(runs.map(({ failed }) => failed).sort()).toEqual([0, 1])
    expect(await cron(instance)).toMatchObject(NOTHING)
    instance.clock.advance(HOUR)
    expect(await cron(instance)).toMatchObject({ selected: 1, failed: 1 })
    await empty.put('b', 'b')
    instance.clock.advance(HOUR)
    expect(await cron(instance)).toMatchObject({ selected: 1, attested: 1, failed: 0 })
    expect(await instance.gateway.context.database.db.selectFrom('cron_failures').selectAll().execute()).toEqual([])
  })

  it('INT-05 answers 503 with the partial result while storage is down, and attests on the next call', async () => {
    const storage = await watchedStorage()
    const instance = await openTestGateway(
      { DATABASE_URL: database.url, CRON_ATTEST_ENABLED: 'true', ATTEST_CHECK_MODE: 'bytes_hashed' },
      { providers: storage.providers },
    )
    onTestFinished(instance.close)
    const lockers = [await attestedLocker(instance), await attestedLocker(instance)]
    instance.clock.advance(24 * HOUR)
    storage.failRead()
    const run = await instance.send<ErrorBody>('POST', '/v1/internal/cron-attest', {})
    expectRefusal(run, 503, 'STORAGE_UNAVAILABLE')
    expect(run.headers.get('retry-after')).toBe('60')
    expect(run.body.details).toMatchObject({ selected: 2, attested: 1, failed: 1 })
    instance.clock.advance(60)
    expect(await cron(instance)).toMatchObject({ selected: 1, attested: 1, failed: 0 })
    for (const locker of lockers) expect(await expectChain(instance, locker)).toHaveLength(2)
  })

  it('T-18 CRON-06 makes one statement for each locker if two runs overlap', async () => {
    const lockers = [await attestedLocker(instance), await attestedLocker(instance), await attestedLocker(instance)]
    instance.clock.advance(24 * HOUR)
    await Promise.all([cron(instance), cron(instance)])
    for (const locker of lockers) expect(await expectChain(instance, locker)).toHaveLength(2)
  })
})

describe('the schedule of cron-attest', () => {
  it('CRON-04 starts a run once a minute', async () => {
    const instance = await openTestGateway({ CRON_ATTEST_ENABLED: 'true', CRON_ATTEST_MIN_AGE_HOURS: '1' })
    const { queue } = instance.gateway.context
    const locker = await attestedLocker(instance)
    await queue.drain()
    expect(await statementsOf(instance, locker)).toHaveLength(1)
    await locker.put('b', 'b')
    await queue.drain()
    expect(await statementsOf(instance, locker)).toHaveLength(1)
    instance.clock.advance(60)
    await queue.drain()
    expect(await statementsOf(instance, locker)).toHaveLength(2)
    instance.clock.advance(HOUR)
    await queue.drain()
    expect(await expectChain(instance, locker)).toHaveLength(3)
    await instance.close()
  })
})
