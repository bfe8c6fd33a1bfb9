import type { AttestAnswer } from '@svc/api/attestations'
import { createFreshDatabase, type FreshDatabase, forEachDatabaseInGate } from '@svc/devnet/databases'
import { forEachTest } from '@svc/devnet/for-tests'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { askToAttest, attest, type BlockableStorage, blockableStorage, expectChain } from './attest.ts'

const names = ({ attestation }: AttestAnswer) => attestation.files.map(({ filename }) => filename)

forEachDatabaseInGate('concurrent requests to attest at one gateway', (database) => {
  let instance: TestGateway
  let storage: BlockableStorage
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  beforeAll(async () => {
    storage = await blockableStorage()
    const variables = { DATABASE_URL: database.url, STORAGE_DIR: storage.folder }
    instance = await openTestGateway(variables, { providers: storage.providers })
  })
  afterAll(async () => {
    await instance.close()
    await storage.remove()
  })

  it('T-18 EVID-10 make one chain, and each answer includes the file that its caller confirmed', async () => {
    const callers = Array.from({ length: 10 }, async (_, i) => {
      await locker.put(`file-${i}`, `bytes of ${i}`)
      expect(names(await attest(instance, locker))).toContain(`file-${i}`)
    })
    await Promise.all(callers)
    const records = await expectChain(instance, locker)
    expect(records.at(-1)!.file_count).toBe(10)
    expect(new Set(records.map(({ file_count }) => file_count)).size).toBe(records.length)
  })

  it('T-10 T-18 share one run and its statement', async () => {
    await locker.put('a', 'a')
    const before = storage.absentCalls()
    const held = storage.hold()
    const asking = Array.from({ length: 20 }, () => attest(instance, locker))
    await held.began
    held.release()
    const answers = await Promise.all(asking)
    expect(storage.absentCalls() - before).toBe(1)
    expect(new Set(answers.map(({ attestation }) => JSON.stringify(attestation))).size).toBe(1)
    expect(await expectChain(instance, locker)).toHaveLength(1)
  })

  it('T-17 do not share a run that read the locker before the last change', async () => {
    await locker.put('a', 'a')
    const held = storage.hold()
    const early = attest(instance, locker)
    await held.began
    await locker.put('b', 'b')
    const late = attest(instance, locker)
    held.release()
    expect([names(await early), names(await late)]).toEqual([['a'], ['a', 'b']])
    await expectChain(instance, locker)
  })

  it('T-17 attest a file as it was read, even when it is replaced meanwhile', async () => {
    await locker.put('a', 'before')
    const held = storage.hold()
    const answer = attest(instance, locker)
    await held.began
    await locker.put('a', 'after', { confirm: false })
    held.release()
    expect((await answer).attestation.files).toMatchObject([{ filename: 'a', size_bytes: 6 }])
    expectRefusal(await askToAttest(instance, locker), 409, 'EMPTY_FILE_LIST')
  })
})

describe('two gateways with one database and one storage', () => {
  let database: FreshDatabase
  let storages: [BlockableStorage, BlockableStorage]
  let instances: [TestGateway, TestGateway]
  let lockers: [TestLocker, TestLocker]
  beforeAll(async () => {
    database = await createFreshDatabase('postgres')
    const first = await blockableStorage()
    storages = [first, await blockableStorage(first.folder)]
    const open = ({ providers, folder }: BlockableStorage) =>
      openTestGateway({ DATABASE_URL: database.url, STORAGE_DIR: folder }, { providers })
    instances = [await open(storages[0]), await open(storages[1])]
  })
  afterAll(async () => {
    for (const instance of instances) await instance.close()
    await storages[0].remove()
    await database.drop()
  })
  beforeEach(async () => {
    const owner = ed25519Identity()
    const locker = await instances[0].locker(owner)
    lockers = [locker, await instances[1].locker(owner, { receiptId: locker.receiptId })]
  })

  /** Starts a run at both gateways and blocks each between reading and writing. */
  async function blockBoth(begin: (i: 0 | 1) => Promise<AttestAnswer>, between = async () => {}) {
    const first = storages[0].hold()
    const one = begin(0)
    await first.began
    await between()
    const second = storages[1].hold()
    const two = begin(1)
    await second.began
    return { one, two, release: [first.release, second.release] as const }
  }
  const attestAt = (i: 0 | 1) => attest(instances[i], lockers[i])
  const forceAt = async (i: 0 | 1) => {
    const body = { receipt_id: lockers[i].receiptId, force: true }
    return (await instances[i].send<AttestAnswer>('POST', '/v1/internal/attest', body)).body
  }

  it('T-18 make one statement when both read the same files', async () => {
    await lockers[0].put('a', 'a')
    const { one, two, release } = await blockBoth(attestAt)
    release[1]()
    const answer = await two
    release[0]()
    expect(await one).toEqual({ ...answer, unchanged: true, verify_url: (await one).verify_url })
    expect(answer.unchanged).toBe(false)
    expect(await expectChain(instances[0], lockers[0])).toHaveLength(1)
  })

  it('T-18 CRON-06 make one new statement for two concurrent forced calls', async () => {
    await lockers[0].put('a', 'a')
    await attestAt(0)
    const { one, two, release } = await blockBoth(forceAt)
    for (const go of release) go()
    const answers = await Promise.all([one, two])
    expect(answers.map(({ attestation }) => attestation.evidence_seq)).toEqual([2, 2])
    expect(answers.map(({ unchanged }) => unchanged).sort()).toEqual([false, true])
    expect(await expectChain(instances[0], lockers[0])).toHaveLength(2)
  })

  it('T-18 T-17 order two statements by the time they read the locker, or keep only the later one', async () => {
    await lockers[0].put('a', 'a')
    const confirmB = () => lockers[1].put('b', 'b')
    const inOrder = await blockBoth(attestAt, confirmB)
    inOrder.release[0]()
    expect(names(await inOrder.one)).toEqual(['a'])
    inOrder.release[1]()
    expect((await inOrder.two).attestation).toMatchObject({ evidence_seq: 2, file_count: 2 })

    await lockers[0].put('c', 'c')
    const overtaken = await blockBoth(attestAt, () => lockers[1].put('d', 'd'))
    overtaken.release[1]()
    expect((await overtaken.two).attestation).toMatchObject({ evidence_seq: 3, file_count: 4 })
    overtaken.release[0]()
    expect(await overtaken.one).toMatchObject({ unchanged: true, attestation: { evidence_seq: 3, file_count: 4 } })
    expect(await expectChain(instances[0], lockers[0])).toHaveLength(3)
  })
})
