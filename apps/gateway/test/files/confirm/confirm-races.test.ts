import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { beforeEach, describe, expect, it } from 'vitest'
import { storeFile } from '../files.ts'
import {
  confirm,
  confirmBatch,
  entryOf,
  manifestOf,
  sha256,
  upload,
  type WatchedStorage,
  watchedStorage,
} from './confirm.ts'

const storage = forAllTests(watchedStorage)
const instance = forAllTests(() => openTestGateway({}, { providers: storage.providers }))
const locker = forEachTest(() => instance.locker(ed25519Identity()))
beforeEach(() => {
  storage.reads.length = 0
})

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))
const remove = () => locker.call(['locker:write'], 'DELETE', '/files/f')

/** Confirms, and makes a change while the first object is read. */
async function during<T>(ask: () => Promise<T>, change: () => Promise<unknown>): Promise<T> {
  const pausedRead = storage.holdRead()
  const asking = ask()
  await pausedRead.began
  await change()
  pausedRead.release()
  return asking
}

const expected_hash = sha256('right')

it.each([
  ['T-17 AMB-24 replaced meanwhile', {}, async () => {}],
  ['T-17 FILE-23 replaced by the bytes that were promised', { expected_hash }, async () => {}],
  ['T-17 FILE-16 deleted and created again', {}, () => remove()],
])('%s, a file is read again: the old hash is never recorded for new bytes', async (_, promised, before) => {
  await upload(instance, locker, 'f', 'old', promised)
  const { body } = await during(
    () => confirm(instance, locker, 'f'),
    async () => {
      await before()
      await upload(instance, locker, 'f', 'right', promised)
    },
  )
  expect(body).toMatchObject({ size_bytes: 5, content_hash: sha256('right') })
  expect(await entryOf(locker, 'f')).toMatchObject({ size_bytes: 5, content_hash: sha256('right') })
  expect(storage.reads).toHaveLength(2)
  expect((await manifestOf(locker)).total_bytes).toBe(5)
})

it('T-17 a file that changes during each of three attempts answers CONTENT_HASH_CHANGED', async () => {
  await upload(instance, locker, 'f', 'version 0')
  const reads = times(3, () => storage.holdRead())
  const confirming = confirm(instance, locker, 'f')
  for (const [i, { began, release }] of reads.entries()) {
    await began
    await upload(instance, locker, 'f', `version ${i + 1}`)
    release()
  }
  expectRefusal(await confirming, 409, 'CONTENT_HASH_CHANGED')
  expect(await entryOf(locker, 'f')).toMatchObject({ content_hash: null, status: 'awaiting_bytes' })
  expect((await confirm(instance, locker, 'f')).body).toMatchObject({ content_hash: sha256('version 3') })
})

it('T-17 FILE-16 a file that is deleted while it is read answers 404 and stays deleted', async () => {
  await upload(instance, locker, 'f', 'bytes')
  expectRefusal(await during(() => confirm(instance, locker, 'f'), remove), 404, 'FILE_NOT_FOUND')
  expect(await manifestOf(locker)).toMatchObject({ file_count: 0, total_bytes: 0, files: [] })
})

it('T-17 FILE-25 of a batch, only the file that changes is read again', async () => {
  await upload(instance, locker, 'changing', 'old')
  await upload(instance, locker, 'resting', 'same')
  const ask = () => confirmBatch(instance, locker, ['changing', 'resting'])
  const { body } = await during(ask, () => upload(instance, locker, 'changing', 'newer'))
  expect(body.results).toEqual([
    { filename: 'changing', ok: true, size_bytes: 5, content_hash: sha256('newer') },
    { filename: 'resting', ok: true, size_bytes: 4, content_hash: sha256('same') },
  ])
  expect(storage.reads).toHaveLength(3)
  expect((await manifestOf(locker)).total_bytes).toBe(9)
})

it('T-10 FILE-22 concurrent confirmations of one file, one by one and in batches, read it once and change the manifest once', async () => {
  await upload(instance, locker, 'f', 'bytes')
  const { manifest_version } = await manifestOf(locker)
  const answers = await Promise.all([
    ...times(20, () => confirm(instance, locker, 'f')),
    ...times(10, () => confirmBatch(instance, locker, ['f', 'g'])),
  ])
  expect(answers.map(({ status }) => status)).toEqual(times(30, () => 200))
  expect(new Set(answers.slice(0, 20).map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(await manifestOf(locker)).toMatchObject({ manifest_version: manifest_version + 1, total_bytes: 5 })
  expect(storage.reads).toHaveLength(1)
})

it('T-10 concurrent confirmations of many files open only a few of them concurrently', {
  tags: ['nightly'],
}, async () => {
  const names = times(60, (i) => `f${i}`)
  for (const name of names) await storeFile(instance, locker, name, name.repeat(1000), { isConfirmed: false })
  const reads = times(8, () => storage.holdRead())
  const asking = [...names.map((name) => confirm(instance, locker, name)), confirmBatch(instance, locker, names)]
  await Promise.all(reads.map(({ began }) => began))
  for (const { release } of reads) release()
  expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(times(61, () => 200))
  expect(storage.reads).toHaveLength(60)
  expect(storage.mostAtOnce()).toBe(8)
})

describe('at two gateways', () => {
  const database = forAllTests(() => createFreshDatabase('postgres'))
  const first = forAllTests(watchedStorage)
  const storages = [first, forAllTests(() => watchedStorage(first.folder))]
  const open = ({ providers }: WatchedStorage) => openTestGateway({ DATABASE_URL: database.url }, { providers })
  const [one, other] = [forAllTests(() => open(storages[0]!)), forAllTests(() => open(storages[1]!))]
  const locker = forEachTest(() => one.locker(ed25519Identity()))
  beforeEach(() => {
    for (const { reads } of storages) reads.length = 0
  })

  it('T-10 T-17 two gateways that read a file at once record it once and answer the same', async () => {
    await upload(one, locker, 'f', 'bytes')
    const { manifest_version } = await manifestOf(locker)
    const pausedReads = storages.map((storage) => storage.holdRead())
    const asking = [one, other].flatMap((instance) => Array.from({ length: 20 }, () => confirm(instance, locker, 'f')))
    await Promise.all(pausedReads.map(({ began }) => began))
    other.clock.advance(1)
    for (const { release } of pausedReads) release()
    const answers = await Promise.all(asking)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(answers[0]?.body.content_hash).toBe(sha256('bytes'))
    expect(await manifestOf(locker)).toMatchObject({ manifest_version: manifest_version + 1, total_bytes: 5 })
    expect(storages.map(({ reads }) => reads.length)).toEqual([1, 1])
  })
})
