import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { storeFile } from '../files.ts'
import { confirm, confirmBatch, entryOf, manifestOf, sha256, upload, watchedStorage } from './confirm.ts'

const storage = await watchedStorage()
let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse({}, { providers: storage.providers })
})
afterAll(async () => {
  await house.close()
  await storage.remove()
})
beforeEach(async () => {
  locker = await house.locker(ed25519Identity())
  storage.reads.length = 0
})

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

describe('a file that changes while it is read', () => {
  it('T-17 AMB-24 a file replaced while it is read is read again: the old hash is never recorded for new bytes', async () => {
    await upload(house, locker, 'f', 'old')
    const held = storage.holdRead()
    const confirming = confirm(house, locker, 'f')
    await held.began
    await upload(house, locker, 'f', 'newer')
    held.letGo()
    expect((await confirming).body).toMatchObject({ size_bytes: 5, content_hash: sha256('newer') })
    expect(await entryOf(locker, 'f')).toMatchObject({ size_bytes: 5, content_hash: sha256('newer') })
    expect(storage.reads).toHaveLength(2)
    expect((await manifestOf(locker)).total_bytes).toBe(5)
  })

  it('T-17 a file that changes during each of three attempts answers CONTENT_HASH_CHANGED', async () => {
    await upload(house, locker, 'f', 'version 0')
    const reads = times(3, () => storage.holdRead())
    const confirming = confirm(house, locker, 'f')
    for (const [i, { began, letGo }] of reads.entries()) {
      await began
      await upload(house, locker, 'f', `version ${i + 1}`)
      letGo()
    }
    expectRefusal(await confirming, 409, 'CONTENT_HASH_CHANGED')
    expect(await entryOf(locker, 'f')).toMatchObject({ content_hash: null, status: 'awaiting_bytes' })
    expect((await confirm(house, locker, 'f')).body).toMatchObject({ content_hash: sha256('version 3') })
  })

  it('T-17 FILE-23 a file is not refused for bytes that were replaced meanwhile', async () => {
    const expected_hash = sha256('right')
    await upload(house, locker, 'f', 'wrong', { expected_hash })
    const held = storage.holdRead()
    const confirming = confirm(house, locker, 'f')
    await held.began
    await upload(house, locker, 'f', 'right', { expected_hash })
    held.letGo()
    expect((await confirming).body).toMatchObject({ content_hash: sha256('right') })
  })

  it('T-17 FILE-16 a file deleted while it is read answers 404 and stays deleted', async () => {
    await upload(house, locker, 'f', 'bytes')
    const held = storage.holdRead()
    const confirming = confirm(house, locker, 'f')
    await held.began
    expect((await locker.call(['locker:write'], 'DELETE', '/files/f')).status).toBe(200)
    held.letGo()
    expectRefusal(await confirming, 404, 'FILE_NOT_FOUND')
    expect(await manifestOf(locker)).toMatchObject({ file_count: 0, total_bytes: 0, files: [] })
  })

  it('T-17 a file deleted and created again while it is read is the new file', async () => {
    await upload(house, locker, 'f', 'first life')
    const held = storage.holdRead()
    const confirming = confirm(house, locker, 'f')
    await held.began
    await locker.call(['locker:write'], 'DELETE', '/files/f')
    await upload(house, locker, 'f', 'second')
    held.letGo()
    expect((await confirming).body).toMatchObject({ size_bytes: 6, content_hash: sha256('second') })
  })

  it('T-17 FILE-25 only the changed file of a batch is read again', async () => {
    await upload(house, locker, 'changing', 'old')
    await upload(house, locker, 'resting', 'same')
    const held = storage.holdRead()
    const confirming = confirmBatch(house, locker, ['changing', 'resting'])
    await held.began
    await upload(house, locker, 'changing', 'newer')
    held.letGo()
    const { body } = await confirming
    expect(body.results).toEqual([
      { filename: 'changing', ok: true, size_bytes: 5, content_hash: sha256('newer') },
      { filename: 'resting', ok: true, size_bytes: 4, content_hash: sha256('same') },
    ])
    expect(storage.reads).toHaveLength(3)
    expect((await manifestOf(locker)).total_bytes).toBe(9)
  })
})

describe('concurrent confirmations', () => {
  it('T-10 AMB-58 concurrent confirmations of one file read it once and change the manifest once', {
    tags: ['nightly'],
  }, async () => {
    await upload(house, locker, 'f', 'bytes')
    const before = await manifestOf(locker)
    const held = storage.holdRead()
    const first = confirm(house, locker, 'f')
    await held.began
    const others = times(99, () => confirm(house, locker, 'f'))
    held.letGo()
    const answers = await Promise.all([first, ...others])
    const hashes = new Set(answers.map(({ status, body }) => `${status} ${body.content_hash} ${body.hash_recorded_at}`))
    expect([...hashes]).toEqual([`200 ${sha256('bytes')} 2026-09-01T12:00:00Z`])
    expect(storage.reads).toHaveLength(1)
    const after = await manifestOf(locker)
    expect([after.manifest_version, after.total_bytes]).toEqual([before.manifest_version + 1, 5])
  })

  it('T-10 concurrent single and batch confirmations of one file change the manifest once', async () => {
    await storeFile(house, locker, 'f', 'bytes', { isConfirmed: false })
    const { manifest_version } = await manifestOf(locker)
    const answers = await Promise.all([
      ...times(10, () => confirmBatch(house, locker, ['f', 'g'])),
      ...times(10, () => confirm(house, locker, 'f')),
    ])
    expect(answers.map(({ status }) => status)).toEqual(times(20, () => 200))
    expect(await manifestOf(locker)).toMatchObject({ manifest_version: manifest_version + 1, total_bytes: 5 })
    expect(storage.reads).toHaveLength(1)
  })

  it('T-10 concurrent confirmations of many files open a few of them at a time', { tags: ['nightly'] }, async () => {
    const names = times(60, (i) => `f${i}`)
    for (const name of names) await storeFile(house, locker, name, name.repeat(1000), { isConfirmed: false })
    const reads = times(8, () => storage.holdRead())
    const asking = [...names.map((name) => confirm(house, locker, name)), confirmBatch(house, locker, names)]
    await Promise.all(reads.map(({ began }) => began))
    for (const { letGo } of reads) letGo()
    expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(times(61, () => 200))
    expect(storage.reads).toHaveLength(60)
    expect(storage.mostAtOnce()).toBe(8)
  })
})
