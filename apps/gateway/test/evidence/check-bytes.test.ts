import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises'
import { forEachDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type WatchedStorage, watchedStorage } from '../files/confirm/confirm.ts'
import { askToAttest, attest, objectPath, queueToAttest, statusOf } from './attest.ts'

interface Refusal {
  details: { filenames: string[]; count: number }
}

forEachDatabase('attesting with ATTEST_CHECK_MODE=bytes_hashed', (database) => {
  let instance: TestGateway
  let storage: WatchedStorage
  let locker: TestLocker
  beforeAll(async () => {
    storage = await watchedStorage()
    const variables = { DATABASE_URL: database.url, STORAGE_DIR: storage.folder, ATTEST_CHECK_MODE: 'bytes_hashed' }
    instance = await openTestGateway(variables, { providers: storage.providers })
  })
  afterAll(async () => {
    await instance.close()
    await storage.remove()
  })
  beforeEach(async () => {
    locker = await instance.locker(ed25519Identity())
    for (const name of ['a', 'b', 'c']) await locker.put(name, `bytes of ${name}`)
    storage.reads.length = 0
  })
  const pathOf = (filename: string) => objectPath(instance, locker, filename)
  const changedFiles = async () => {
    const reply = await askToAttest<Refusal>(instance, locker)
    expectRefusal(reply, 409, 'CONTENT_HASH_CHANGED')
    return reply.body.details
  }

  it('EVID-13 records its check mode, and reads every confirmed object once per statement', async () => {
    await locker.put('unconfirmed', 'x', { confirm: false })
    const { attestation } = await attest(instance, locker)
    expect(attestation).toMatchObject({ check_mode: 'bytes_hashed', file_count: 3, manifest_file_count: 4 })
    expect(attestation.envelope!.body.check_mode).toBe('bytes_hashed')
    expect(storage.reads).toHaveLength(3)
    await attest(instance, locker)
    expect(storage.reads).toHaveLength(3)
    await locker.put('d', 'd')
    await attest(instance, locker)
    // One of these reads is the confirmation of the new file.
    expect(storage.reads).toHaveLength(3 + 1 + 4)
  })

  it('EVID-13 INT-05 fails when bytes on the disk have changed, names the files, and writes nothing', async () => {
    const path = await pathOf('b')
    const original = await readFile(path)
    await writeFile(path, Buffer.from(original).fill('x'))
    expect(await changedFiles()).toEqual({ filenames: ['b'], count: 1 })
    await appendFile(await pathOf('c'), ' and more')
    await truncate(await pathOf('a'), 3)
    expect(await changedFiles()).toEqual({ filenames: ['a', 'b', 'c'], count: 3 })
    expect(await statusOf(instance, locker)).toBeNull()
    // In a job the failure is a dead letter and leaves no stub.
    await queueToAttest(instance, locker)
    expect((await instance.gateway.context.queue.drain()).dead).toBe(1)
    expect(await statusOf(instance, locker)).toBeNull()
    await locker.put('a', 'new bytes')
    await locker.call(['locker:write'], 'DELETE', '/files/c')
    await writeFile(path, original)
    expect((await attest(instance, locker)).attestation.files.map(({ filename }) => filename)).toEqual(['a', 'b'])
  })

  it('T-17 attests the final files when they change while bytes are read', async () => {
    const held = storage.holdRead()
    const answer = attest(instance, locker)
    await held.began
    await locker.put('b', 'newer bytes')
    await locker.put('d', 'one more')
    await locker.call(['locker:write'], 'DELETE', '/files/c')
    held.release()
    const { files, check_mode } = (await answer).attestation
    expect(files.map(({ filename, size_bytes }) => [filename, size_bytes])).toEqual([
      ['a', 10],
      ['b', 11],
      ['d', 8],
    ])
    expect(check_mode).toBe('bytes_hashed')
  })

  it('T-139 answers 503 when storage is down, and does not report changed bytes', async () => {
    storage.failRead()
    expectRefusal(await askToAttest(instance, locker), 503, 'STORAGE_UNAVAILABLE')
    expect((await attest(instance, locker)).attestation.file_count).toBe(3)
  })
})
