import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pageOfFiles } from '../../src/files/lists/store.ts'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { lockerRow, storeFile } from './files.ts'

forEachDatabaseInGate('concurrent requests in one locker', (database) => {
  let house: LockerHouse

  beforeAll(async () => {
    house = await openLockerHouse({ DATABASE_URL: database.url })
  })
  afterAll(() => house.close())

  const create = (locker: TestLocker, filename: string) =>
    locker.call(['locker:write'], 'POST', '/files', { filename }).then(({ status }) => status)
  const createAll = (locker: TestLocker, names: readonly string[]) =>
    locker
      .call(['locker:write'], 'POST', '/files/batch', { files: names.map((filename) => ({ filename })) })
      .then(({ status }) => status)
  const remove = (locker: TestLocker, filename: string) =>
    locker.call(['locker:write'], 'DELETE', `/files/${filename}`).then(({ status }) => status)

  /** Compares the locker's totals with its files. */
  async function counted(locker: TestLocker) {
    const { file_count, total_bytes, manifest_version } = await lockerRow(house, locker)
    const files = await pageOfFiles(house.gateway.context.database.db, locker.lockerId, null, 10_000)
    expect(file_count).toBe(files.length)
    expect(total_bytes).toBe(files.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0))
    return { file_count, manifest_version }
  }

  it('FILE-01 concurrent creates of one name make one file', async () => {
    const locker = await house.locker(ed25519Identity())
    const statuses = await Promise.all(Array.from({ length: 20 }, () => create(locker, 'same')))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await counted(locker)).toEqual({ file_count: 1, manifest_version: 1 })
  })

  it('FILE-01 concurrent creates of many names make as many files', async () => {
    const locker = await house.locker(ed25519Identity())
    const statuses = await Promise.all(Array.from({ length: 40 }, (_, i) => create(locker, `${i}`)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await counted(locker)).toEqual({ file_count: 40, manifest_version: 40 })
  })

  it('FILE-01 concurrent creates in several lockers count in each, and a refused one fails alone', async () => {
    const lockers = await Promise.all([1, 2, 3].map(() => house.locker(ed25519Identity())))
    const names = ['a', 'b', '../refused', 'a', 'c']
    const statuses = await Promise.all(lockers.map((locker) => Promise.all(names.map((name) => create(locker, name)))))
    expect(statuses).toEqual(lockers.map(() => [200, 200, 422, 200, 200]))
    const counts = await Promise.all(lockers.map(counted))
    expect(counts).toEqual(lockers.map(() => ({ file_count: 3, manifest_version: 3 })))
  })

  it('FILE-12 concurrent batches of the same names in different orders do not deadlock', async () => {
    const locker = await house.locker(ed25519Identity())
    const names = Array.from({ length: 60 }, (_, i) => `${i}`)
    const orders = Array.from({ length: 4 }, (_, i) => [...names.slice(i * 7), ...names.slice(0, i * 7)])
    const statuses = await Promise.all(
      orders.flatMap((order) => [createAll(locker, order), createAll(locker, order.toReversed())]),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await counted(locker)).toEqual({ file_count: 60, manifest_version: 1 })
  })

  it('FILE-16 one of many concurrent deletes succeeds, and the bytes are subtracted once', async () => {
    const locker = await house.locker(ed25519Identity())
    await storeFile(house, locker, 'a', 'hello')
    await storeFile(house, locker, 'b', 'bytes that stay')
    const statuses = await Promise.all(Array.from({ length: 10 }, () => remove(locker, 'a')))
    expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(404)])
    expect(await counted(locker)).toEqual({ file_count: 1, manifest_version: 3 })
  })

  it('FILE-16 concurrent creates, uploads and deletes of the same names leave the counts right', async () => {
    const locker = await house.locker(ed25519Identity())
    const names = ['a', 'b', 'c']
    const rounds = Array.from({ length: 6 }, () => [
      createAll(locker, names),
      createAll(locker, names.toReversed()),
      ...names.map((name) => remove(locker, name)),
      ...names.map((name) => storeFile(house, locker, name, `bytes of ${name}`).then(() => 200)),
    ])
    const statuses = await Promise.all(rounds.flat())
    expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([])
    await counted(locker)
  })
})
