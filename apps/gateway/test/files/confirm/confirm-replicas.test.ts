import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/testbed/test-gateway'
import { beforeEach, expect, it } from 'vitest'
import { confirm, manifestOf, sha256, upload, type WatchedStorage, watchedStorage } from './confirm.ts'

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
  const held = storages.map((storage) => storage.holdRead())
  const asking = [one, other].flatMap((house) => Array.from({ length: 20 }, () => confirm(house, locker, 'f')))
  await Promise.all(held.map(({ began }) => began))
  other.clock.advance(1)
  for (const { letGo } of held) letGo()
  const answers = await Promise.all(asking)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(answers[0]?.body.content_hash).toBe(sha256('bytes'))
  expect(await manifestOf(locker)).toMatchObject({ manifest_version: manifest_version + 1, total_bytes: 5 })
  expect(storages.map(({ reads }) => reads.length)).toEqual([1, 1])
})
