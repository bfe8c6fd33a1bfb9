import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { pageOfFiles } from '../../src/files/lists/store.ts'
import { confirmBatch } from './confirm/confirm.ts'
import { lockerRow, storeFile } from './files.ts'

forEachDatabaseInGate('concurrent requests in one locker', (database) => {
  const house = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const locker = forEachTest(() => house.locker(ed25519Identity()))

  const statusOf = async (method: string, path: string, body?: object) =>
    (await locker.call(['locker:write'], method, path, body)).status
  const create = (filename: string) => statusOf('POST', '/files', { filename })
  const createAll = (names: readonly string[]) =>
    statusOf('POST', '/files/batch', { files: names.map((filename) => ({ filename })) })
  const remove = (filename: string) => statusOf('DELETE', `/files/${filename}`)

  /** Compares the locker's totals with its files. */
  async function counted() {
    const { file_count, total_bytes, manifest_version } = await lockerRow(house, locker)
    const files = await pageOfFiles(house.gateway.context.database.db, locker.lockerId, null, 10_000)
    expect(file_count).toBe(files.length)
    expect(total_bytes).toBe(files.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0))
    return { file_count, manifest_version }
  }

  it('FILE-01 concurrent creates make a file for each name, and a refused one fails alone', async () => {
    const names = Array.from({ length: 40 }, (_, i) => (i % 10 === 0 ? '../refused' : `${i % 20}`))
    const statuses = await Promise.all(names.map(create))
    expect(statuses).toEqual(names.map((name) => (name === '../refused' ? 422 : 200)))
    expect(await counted()).toEqual({ file_count: 18, manifest_version: 18 })
  })

  it('FILE-12 concurrent batches of the same names in different orders do not deadlock', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `${i}`)
    const orders = Array.from({ length: 4 }, (_, i) => [...names.slice(i * 7), ...names.slice(0, i * 7)])
    const statuses = await Promise.all(orders.flatMap((order) => [createAll(order), createAll(order.toReversed())]))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await counted()).toEqual({ file_count: 60, manifest_version: 1 })
  })

  it('FILE-16 one of many concurrent deletes succeeds, and the bytes are subtracted once', async () => {
    await storeFile(house, locker, 'a', 'hello')
    await storeFile(house, locker, 'b', 'bytes that stay')
    const statuses = await Promise.all(Array.from({ length: 10 }, () => remove('a')))
    expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(404)])
    expect(await counted()).toEqual({ file_count: 1, manifest_version: 3 })
  })

  it('FILE-16 FILE-25 T-17 concurrent creates, uploads, confirmations and deletes leave the counts right', async () => {
    const names = ['a', 'b', 'c']
    const rounds = Array.from({ length: 6 }, () => [
      createAll(names),
      createAll(names.toReversed()),
      ...names.map((name) => remove(name)),
      confirmBatch(house, locker, names).then(({ status }) => status),
      confirmBatch(house, locker, names.toReversed()).then(({ status }) => status),
      ...names.map((name) => storeFile(house, locker, name, name, { isConfirmed: false }).then(() => 200)),
    ])
    const statuses = await Promise.all(rounds.flat())
    expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([])
    await counted()
  })
})
