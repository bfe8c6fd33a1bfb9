import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../../auth/lockers.ts'
import { lockerRow, storeFile } from '../files.ts'
import { confirm, confirmBatch, manifestOf, sha256, upload, type WatchedStorage, watchedStorage } from './confirm.ts'

let database: FreshDatabase
let storages: [WatchedStorage, WatchedStorage]
let houses: [LockerHouse, LockerHouse]
let locker: TestLocker

beforeAll(async () => {
  database = await createFreshDatabase('postgres')
  const first = await watchedStorage()
  storages = [first, await watchedStorage(first.folder)]
  const open = ({ providers }: WatchedStorage) => openLockerHouse({ DATABASE_URL: database.url }, { providers })
  houses = [await open(storages[0]), await open(storages[1])]
})
afterAll(async () => {
  for (const house of houses) await house.close()
  await storages[0].remove()
  await database.drop()
})
beforeEach(async () => {
  locker = await houses[0].locker(ed25519Identity())
  for (const { reads } of storages) reads.length = 0
})

describe('two gateways with one database and one storage', () => {
  it('T-10 T-17 two gateways that read a file at once record it once and answer the same', async () => {
    await upload(houses[0], locker, 'f', 'bytes')
    const { manifest_version } = await manifestOf(locker)
    const held = storages.map((storage) => storage.holdRead())
    const asking = houses.flatMap((house) => Array.from({ length: 20 }, () => confirm(house, locker, 'f')))
    await Promise.all(held.map(({ began }) => began))
    houses[1].clock.advance(1)
    for (const { letGo } of held) letGo()
    const answers = await Promise.all(asking)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(answers[0]?.body.content_hash).toBe(sha256('bytes'))
    expect(await manifestOf(locker)).toMatchObject({ manifest_version: manifest_version + 1, total_bytes: 5 })
    expect(storages.map(({ reads }) => reads.length)).toEqual([1, 1])
  })

  it('T-17 a gateway notices an upload through another gateway while it reads', async () => {
    await upload(houses[0], locker, 'f', 'old')
    const held = storages[1].holdRead()
    const confirming = confirm(houses[1], locker, 'f')
    await held.began
    await upload(houses[0], locker, 'f', 'newer')
    expect((await confirm(houses[0], locker, 'f')).body.content_hash).toBe(sha256('newer'))
    held.letGo()
    expect((await confirming).body).toMatchObject({ size_bytes: 5, content_hash: sha256('newer') })
    expect((await manifestOf(locker)).total_bytes).toBe(5)
  })

  it('T-17 FILE-25 batches in any order and uploads through two gateways do not deadlock', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `f${String(i).padStart(2, '0')}`)
    for (const name of names) await storeFile(houses[0], locker, name, name, { isConfirmed: false })
    const statuses = await Promise.all(
      [0, 1, 2, 3].flatMap((turn) => {
        const house = houses[turn % 2] as LockerHouse
        const order = turn < 2 ? names : names.toReversed()
        return [
          confirmBatch(house, locker, order).then(({ status }) => status),
          ...order.map((name) =>
            storeFile(house, locker, name, `${name} ${turn}`, { isConfirmed: false }).then(() => 200),
          ),
          ...order.slice(0, 4).map((name) => confirm(house, locker, name).then(({ status }) => status)),
        ]
      }),
    )
    // A file that is replaced all the time may answer CONTENT_HASH_CHANGED.
    expect(new Set(statuses.map((status) => (status === 409 ? 200 : status)))).toEqual(new Set([200]))
    const { body } = await confirmBatch(houses[0], locker, names)
    expect(body.summary).toEqual({ total: 12, confirmed: 12, failed: 0 })
    const { file_count, total_bytes } = await lockerRow(houses[1], locker)
    const sizes = body.results.map((result) => (result.ok ? result.size_bytes : Number.NaN))
    expect([file_count, total_bytes]).toEqual([12, sizes.reduce((sum, size) => sum + size)])
  })
})
