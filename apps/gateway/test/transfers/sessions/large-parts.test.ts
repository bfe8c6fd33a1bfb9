import { randomBytes } from 'node:crypto'
import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { sweepObjects } from '../../../src/files/sweep-objects.ts'
import { findSession, findSessionFile } from '../../../src/transfers/sessions/store.ts'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { type WatchedStorage, watchedStorage } from '../../files/confirm/confirm.ts'
import { sha256 } from '../transfers.ts'
import { listed, openTestSession, publicBytes, type TestSession } from './sessions.ts'

/** Large enough to be written where it stays. */
const PART = 262_144

const partsOf = (bytes: Buffer) =>
  Array.from({ length: Math.ceil(bytes.length / PART) }, (_, i) => bytes.subarray(i * PART, (i + 1) * PART))

forEachDatabase('parts that are written where they stay', (database) => {
  let storage: WatchedStorage
  let house: LockerHouse
  let locker: TestLocker
  beforeAll(async () => {
    storage = await watchedStorage()
    house = await open()
    locker = await house.locker(ed25519Identity())
  })
  afterAll(async () => {
    await house.close()
    await storage.remove()
  })
  beforeEach(() => {
    storage.reads.length = 0
  })

  const open = (partMaxBytes = PART) =>
    openLockerHouse(
      { DATABASE_URL: database.url, BASE_URL: 'https://gateway.example', SESSION_PART_MAX_BYTES: `${partMaxBytes}` },
      { providers: storage.providers },
    )
  const session = (filename: string, expected?: Buffer) => {
    const hash = expected && { expected_hash: sha256(expected) }
    return openTestSession(house, locker, { files: [{ filename, ...hash }] })
  }
  const objects = async () => {
    const rows = await house.gateway.context.database.db.selectFrom('objects').select(['object_id', 'state']).execute()
    return new Map(rows.map(({ object_id, state }) => [object_id, state]))
  }
  const incoming = () => readdir(join(storage.folder, 'incoming'))
  const send = async (to: TestSession, bytes: Buffer, indexes: number[]) => {
    const parts = partsOf(bytes)
    const sent = await Promise.all(indexes.map((i) => to.raw(i, parts[i]!)))
    expect(sent.map(({ status }) => status)).toEqual(indexes.map(() => 200))
    return sent.map(({ body }) => body)
  }

  async function expectStored(of: TestSession, filename: string, bytes: Buffer): Promise<void> {
    const { body } = await of.finalize()
    const content_hash = `sha256:${sha256(bytes)}`
    expect(body).toMatchObject({ status: 'complete', files: [{ size_bytes: bytes.length, content_hash }] })
    expect((await of.finalize()).body).toEqual(body)
    expect((await publicBytes(house, locker, filename)).equals(bytes)).toBe(true)
    expect(await listed(locker, filename)).toMatchObject({ size_bytes: bytes.length, content_hash })
  }

  it('SESS-02 SESS-03 parts in order are written once, hashed as they come, and never read', async () => {
    const bytes = randomBytes(3 * PART + 300_000)
    const before = (await objects()).size
    const to = await session('in order')
    for (const i of [0, 1, 2, 3, 4]) {
      const [part] = await send(to, bytes, [i])
      expect(part).toMatchObject({ index: i, sha256: sha256(partsOf(bytes)[i]!) })
    }
    const { body } = await to.finalize()
    expect(body).toMatchObject({ status: 'complete', files: [{ content_hash: `sha256:${sha256(bytes)}` }] })
    expect(storage.reads).toEqual([])
    expect((await objects()).size).toBe(before + 1)
    await expectStored(to, 'in order', bytes)
    expect(await incoming()).toEqual([])
  })

  it('SESS-02 parts may come at the same time and in any order', async () => {
    const bytes = randomBytes(8 * PART)
    const to = await session('parallel', bytes)
    await send(to, bytes, [5, 2, 7, 0, 1, 6, 3, 4])
    await to.finalize()
    expect(storage.reads).toEqual([])
    await expectStored(to, 'parallel', bytes)
  })

  it('SESS-02 a part that is sent again replaces the one before', async () => {
    const bytes = randomBytes(3 * PART)
    const to = await session('replaced')
    await send(to, randomBytes(3 * PART), [0, 1])
    await send(to, bytes, [0, 1, 2, 1])
    expect((await to.status()).body.files).toMatchObject([{ received_bytes: 3 * PART, parts: 3 }])
    await expectStored(to, 'replaced', bytes)
  })

  it('SESS-02 a part that is not what its hash says leaves its place free', async () => {
    const bytes = randomBytes(2 * PART)
    const to = await session('damaged')
    await send(to, bytes, [0])
    const damaged = await to.raw(1, randomBytes(PART), { sha256: sha256(partsOf(bytes)[1]!) })
    expectRefusal(damaged, 409, 'HASH_MISMATCH')
    await send(to, bytes, [1])
    await to.finalize()
    expect(storage.reads).toEqual([])
    await expectStored(to, 'damaged', bytes)
  })

  it('SESS-02 parts of uneven length make the file too', async () => {
    const [first, second, third] = [randomBytes(PART), randomBytes(PART - 1), randomBytes(PART)]
    const to = await session('uneven')
    for (const [i, part] of [first, second, third].entries()) expect((await to.raw(i, part)).status).toBe(200)
    await expectStored(to, 'uneven', Buffer.concat([first, second, third]))
  })

  it('SESS-02 parts may be empty', async () => {
    const [first, second, empty] = [randomBytes(PART), randomBytes(PART), Buffer.alloc(0)]
    const contents = { start: [empty, first, second], middle: [first, empty, second], end: [first, second, empty] }
    for (const [filename, parts] of Object.entries(contents)) {
      const to = await session(filename)
      for (const i of [1, 0, 2]) expect((await to.raw(i, parts[i]!)).status).toBe(200)
      await expectStored(to, filename, Buffer.concat(parts))
    }
  })

  it('SESS-02 a part whose writer was killed can be sent again', async () => {
    const bytes = randomBytes(3 * PART)
    const to = await session('killed')
    await send(to, bytes, [0])
    const folder = (await incoming()).find((name) => name.endsWith('.parts'))!
    // A process that died while it wrote this part has left its claim.
    await writeFile(join(storage.folder, 'incoming', folder, '1'), '')
    await send(to, bytes, [1, 2])
    await expectStored(to, 'killed', bytes)
  })

  it('SESS-02 SESS-05 parts may go to several gateways, and a restarted one hashes what it has not seen', async () => {
    const other = await open()
    onTestFinished(other.close)
    const bytes = randomBytes(6 * PART)
    const to = await session('shared')
    const parts = partsOf(bytes)
    const sent = await Promise.all(parts.map((part, i) => (i % 2 ? to.at(other) : to).raw(i, part)))
    expect(sent.map(({ status }) => status)).toEqual(Array(6).fill(200))
    const replies = await Promise.all([to, to.at(other), to.at(other)].map((at) => at.finalize()))
    for (const { body } of replies) expect(body).toEqual(replies[0]?.body)
    await expectStored(to, 'shared', bytes)
  })

  it('STATE-13 a file with a wrong hash gets another chance', async () => {
    const bytes = randomBytes(3 * PART)
    const to = await openTestSession(house, locker, {
      files: [{ filename: 'expected', expected_hash: sha256(bytes) }, { filename: 'other' }],
    })
    await send(to, bytes, [0, 2])
    await to.raw(1, randomBytes(PART))
    await to.raw(0, 'stored', { file: 1 })
    expect((await to.finalize()).body).toMatchObject({
      status: 'partial',
      files: [{ ok: false, error: 'HASH_MISMATCH' }, { ok: true }],
    })
    await send(to, bytes, [1])
    await to.finalize()
    expect((await publicBytes(house, locker, 'expected')).equals(bytes)).toBe(true)
  })

  it('SESS-02 STATE-13 a file whose parts do not fit into the object that was begun takes parts after a failure', async () => {
    const other = await open(2 * PART)
    onTestFinished(other.close)
    const [first, second] = [randomBytes(2 * PART), randomBytes(2 * PART)]
    const bytes = Buffer.concat([first, second])
    const begun = await openTestSession(house, locker, {
      files: [{ filename: 'no fit', expected_hash: sha256(bytes) }, { filename: 'fit' }],
    })
    await begun.raw(0, 'stored', { file: 1 })
    expectRefusal(await begun.raw(0, randomBytes(PART), { sha256: sha256('other') }), 409, 'HASH_MISMATCH')
    const to = begun.at(other)
    for (const i of [0, 1]) expect((await to.raw(i, second)).status).toBe(200)
    expect((await to.finalize()).body).toMatchObject({ status: 'partial', files: [{ error: 'HASH_MISMATCH' }, {}] })
    expect((await to.raw(0, first)).status).toBe(200)
    await to.finalize()
    expect((await publicBytes(house, locker, 'no fit')).equals(bytes)).toBe(true)
  })

  it('SESS-02 a lost part that did not fit into the object that was begun can be sent again', async () => {
    const other = await open(2 * PART)
    onTestFinished(other.close)
    const bytes = randomBytes(4 * PART)
    const begun = await session('no fit and lost')
    expectRefusal(await begun.raw(0, randomBytes(PART), { sha256: sha256('other') }), 409, 'HASH_MISMATCH')
    const to = begun.at(other)
    const before = new Set((await objects()).keys())
    expect((await to.raw(0, bytes.subarray(0, 2 * PART))).status).toBe(200)
    const [lost] = [...(await objects()).keys()].filter((id) => !before.has(id))
    expect((await to.raw(1, bytes.subarray(2 * PART))).status).toBe(200)
    await rm(join(storage.folder, 'objects', lost!.slice(0, 2), lost!))
    expect((await to.finalize()).body).toMatchObject({ status: 'partial', files: [{ missing_parts: [0] }] })
    expect((await to.raw(0, bytes.subarray(0, 2 * PART))).status).toBe(200)
    await expectStored(to, 'no fit and lost', bytes)
  })

  it('SESS-02 parts that an earlier release stored are put together with later ones', async () => {
    const bytes = randomBytes(3 * PART)
    const to = await session('earlier')
    // As objects of their own, like every part of that release.
    await to.part(0, partsOf(bytes)[0]!)
    await to.part(1, partsOf(bytes)[1]!)
    await send(to, bytes, [2])
    await expectStored(to, 'earlier', bytes)
  })

  it('SESS-02 parts that storage has lost are missing and can be sent again', async () => {
    const bytes = randomBytes(3 * PART)
    const to = await session('lost')
    await send(to, bytes, [0, 1, 2])
    const { db } = house.gateway.context.database
    const file = db.selectFrom('upload_session_files').select('object_id').where('filename', '=', 'lost')
    const { object_id } = await file.executeTakeFirstOrThrow()
    await rm(join(storage.folder, 'incoming', `${object_id}.parts`), { recursive: true })
    expect((await to.finalize()).body).toMatchObject({ status: 'partial', files: [{ missing_parts: [0, 1, 2] }] })
    await send(to, bytes, [0, 1, 2])
    await expectStored(to, 'lost', bytes)
  })

  it('SESS-02 SESS-03 a part that has changed in storage is missing, also when only a restarted gateway reads it', async () => {
    const other = await open()
    onTestFinished(other.close)
    const bytes = randomBytes(3 * PART)
    const to = (await session('changed')).at(other)
    await send(to.at(house), bytes, [0, 1, 2])
    const { db } = house.gateway.context.database
    const file = db.selectFrom('upload_session_files').select('object_id').where('filename', '=', 'changed')
    const { object_id } = await file.executeTakeFirstOrThrow()
    const changed = Buffer.concat([bytes.subarray(0, PART), randomBytes(PART), bytes.subarray(2 * PART)])
    await writeFile(join(storage.folder, 'incoming', `${object_id}.parts`, 'bytes'), changed)
    expect((await to.finalize()).body).toMatchObject({ status: 'partial', files: [{ missing_parts: [1] }] })
    await send(to, bytes, [1])
    await expectStored(to, 'changed', bytes)
  })

  it('AMB-47 T-11 parts beyond the declared size are refused and take no room', { tags: ['nightly'] }, async () => {
    const bytes = randomBytes(3 * PART)
    const files = [{ filename: 'declared', size_bytes: 2 * PART }]
    const to = await openTestSession(house, locker, { files })
    await send(to, bytes, [0, 1])
    for (const i of [1, 2, 3, 500]) {
      const { status } = await to.raw(i, randomBytes(PART))
      expect([i, status]).toEqual([i, i === 1 ? 200 : 413])
    }
    const { db } = house.gateway.context.database
    const { object_id } = await db
      .selectFrom('upload_session_files')
      .select('object_id')
      .where('filename', '=', 'declared')
      .executeTakeFirstOrThrow()
    const { size } = await stat(join(storage.folder, 'incoming', `${object_id}.parts`, 'bytes'))
    expect(size).toBe(2 * PART)
    expect((await to.finalize()).body.status).toBe('complete')
  })

  it('T-11 a short part whose place is beyond the declared size does not make the object longer', async () => {
    const to = await openTestSession(house, locker, { files: [{ filename: 'short', size_bytes: 2 * PART }] })
    await send(to, randomBytes(PART), [0])
    expect((await to.raw(500, 'x')).status).toBe(200)
    const { db } = house.gateway.context.database
    const file = db.selectFrom('upload_session_files').select('object_id').where('filename', '=', 'short')
    const folder = join(storage.folder, 'incoming', `${(await file.executeTakeFirstOrThrow()).object_id}.parts`)
    expect((await stat(join(folder, 'bytes'))).size).toBe(PART)
    await rm(folder, { recursive: true })
  })

  it('SESS-03 an object that is being completed is not begun again', async () => {
    const { context, rooms } = house.gateway
    const { db } = context.database
    const { session_id, files } = (await session('late')).opened
    const row = (await findSession(db, session_id))!
    const before = (await findSessionFile(db, session_id, files[0]!.file_id))!
    const part = { index: 0, size: PART }
    const upload = await rooms.transfers.openParts(row, before, part)
    expect(upload).not.toBeNull()
    const folder = join(storage.folder, 'incoming', `${upload!.id}.parts`)
    await rm(folder, { recursive: true })
    const sealed = { upload_state: 'sealed' } as const
    await db.updateTable('upload_session_files').set(sealed).where('session_id', '=', session_id).execute()
    expect(await rooms.transfers.openParts(row, before, part)).toBeNull()
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('SESS-05 a session that ends leaves nothing', async () => {
    const to = await openTestSession(house, locker, { files: [{ filename: 'left' }], ttl_min: 1 })
    await send(to, randomBytes(2 * PART), [0, 1])
    expect(await incoming()).not.toEqual([])
    house.clock.advance(60)
    expect((await to.status()).body.status).toBe('failed')
    house.clock.advance(16 * 60)
    await sweepObjects(house.gateway.rooms.files)
    expect(await incoming()).toEqual([])
    expect([...(await objects()).values()].filter((state) => state !== 'held')).toEqual([])
  })
})
