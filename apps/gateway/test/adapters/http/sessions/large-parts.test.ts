import { randomBytes } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { plainHashThread } from '../../../../src/files/confirm/hash-thread.ts'
import { createPartHashes } from '../../../../src/files/parts/part-hashes.ts'
import { findSession, findSessionFile } from '../../../../src/files/parts/store.ts'
import { sweepObjects } from '../../../../src/files/sweep-objects.ts'
import { watchedStorage } from '../../../files/confirm/confirm.ts'
import { sha256 } from '../transfers.ts'
import { listed, openTestSession, publicBytes, type TestSession } from './sessions.ts'

/** Large enough to be written directly to its final location. */
const PART = 262_144

const partsOf = (bytes: Buffer) =>
  Array.from({ length: Math.ceil(bytes.length / PART) }, (_, i) => bytes.subarray(i * PART, (i + 1) * PART))

forEachDatabase('parts that are written to their final location', (database) => {
  const storage = forAllTests(watchedStorage)
  const open = (partMaxBytes = PART) =>
    openTestGateway(
      { DATABASE_URL: database.url, BASE_URL: 'https://gateway.example', FILE_LIMITS: `part_bytes=${partMaxBytes}` },
      { providers: storage.providers },
    )
  const instance = forAllTests(() => open())
  const other = forAllTests(() => open())
  const coarse = forAllTests(() => open(2 * PART))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  beforeEach(() => {
    storage.reads.length = 0
  })

  const db = () => instance.gateway.context.database.db
  const session = (first: object = {}, ...more: { filename: string }[]) =>
    openTestSession(instance, locker, { files: [{ filename: 'a', ...first }, ...more] })
  const objectIds = async () => (await db().selectFrom('objects').select('object_id').execute()).map((o) => o.object_id)
  /** Where the parts of the first file are, until it is complete. */
  async function partsFolder({ opened }: TestSession): Promise<string> {
    const files = db().selectFrom('upload_session_files').where('session_id', '=', opened.session_id)
    const { object_id } = await files.select('object_id').orderBy('file_id').executeTakeFirstOrThrow()
    return join(storage.folder, 'incoming', `${object_id}.parts`)
  }
  const send = async (to: TestSession, bytes: Buffer, indexes: number[]) => {
    const parts = partsOf(bytes)
    const sent = await Promise.all(indexes.map((i) => to.raw(i, parts[i]!)))
    expect(sent.map(({ status }) => status)).toEqual(indexes.map(() => 200))
    return sent.map(({ body }) => body)
  }

  async function expectStored(of: TestSession, bytes: Buffer, filename = 'a'): Promise<void> {
    const { body } = await of.finalize()
    const content_hash = `sha256:${sha256(bytes)}`
    expect(body).toMatchObject({ status: 'complete', files: [{ size_bytes: bytes.length, content_hash }] })
    expect((await of.finalize()).body).toEqual(body)
    expect((await publicBytes(instance, locker, filename)).equals(bytes)).toBe(true)
    expect(await listed(locker, filename)).toMatchObject({ size_bytes: bytes.length, content_hash })
  }

  it('SESS-02 SESS-03 parts in order are written once, hashed on arrival, and never read', async () => {
    const bytes = randomBytes(3 * PART + 300_000)
    const before = (await objectIds()).length
    const to = await session()
    for (const i of [0, 1, 2, 3, 4]) {
      const { body } = await to.raw(i, partsOf(bytes)[i]!, i % 2 ? { sha256: '' } : {})
      expect(body).toMatchObject({ index: i, received_bytes: partsOf(bytes)[i]!.length })
      // The hash is computed on request, and always for small parts.
      expect(body.sha256).toBe(i % 2 || i === 4 ? sha256(partsOf(bytes)[i]!) : undefined)
    }
    const folder = await partsFolder(to)
    await to.finalize()
    expect(storage.reads).toEqual([])
    expect((await objectIds()).length).toBe(before + 1)
    await expectStored(to, bytes)
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('SESS-02 replicas of 1.1.0 can read a part for an hour after an update', async () => {
    const mark = { name: '0001-signing-keys', needs: null }
    const applied = writable(db()).withTables<{ schema_migrations: typeof mark }>()
    await applied.insertInto('schema_migrations').values(mark).execute()
    onTestFinished(async () => {
      await applied.deleteFrom('schema_migrations').where('name', '=', mark.name).execute()
    })
    const updated = await open()
    onTestFinished(() => updated.close())
    const bytes = randomBytes(2 * PART)
    const to = await session()
    const [first, second] = partsOf(bytes) as [Buffer, Buffer]
    expect((await to.at(updated).raw(0, first)).body.sha256).toBe(sha256(first))
    updated.clock.advance(3600)
    expect((await to.at(updated).raw(1, second)).body).not.toHaveProperty('sha256')
    await expectStored(to, bytes)
  })

  it('SESS-02 a part that is sent again replaces the earlier one', async () => {
    const bytes = randomBytes(3 * PART)
    const to = await session()
    await send(to, randomBytes(3 * PART), [0, 1])
    await send(to, bytes, [0, 1, 2, 1])
    expect((await to.status()).body.files).toMatchObject([{ received_bytes: 3 * PART, parts: 3 }])
    await expectStored(to, bytes)
  })

  it('SESS-02 a part with a wrong hash or a killed writer leaves its position free', async () => {
    const bytes = randomBytes(3 * PART)
    const to = await session()
    await send(to, bytes, [0])
    const damaged = await to.raw(1, randomBytes(PART), { sha256: sha256(partsOf(bytes)[1]!) })
    expectRefusal(damaged, 409, 'HASH_MISMATCH')
    // A process that died while it wrote this part has left its claim.
    await writeFile(join(await partsFolder(to), '2'), '')
    await send(to, bytes, [1, 2])
    await to.finalize()
    await expectStored(to, bytes)
  })

  it('SESS-02 parts may be of uneven length, or empty', async () => {
    for (const shares of ['1 0.9 1', '0 1 1', '1 0 1', '1 1 0']) {
      const parts = shares.split(' ').map((share) => randomBytes(Math.ceil(Number(share) * PART)))
      const to = await session()
      for (const i of [1, 0, 2]) expect((await to.raw(i, parts[i]!)).status).toBe(200)
      await expectStored(to, Buffer.concat(parts))
    }
  })

  it('SESS-02 SESS-05 parts may go to several gateways, and a restarted one hashes the parts it did not receive', async () => {
    const bytes = randomBytes(6 * PART)
    const to = await session()
    const sent = await Promise.all(partsOf(bytes).map((part, i) => (i % 2 ? to.at(other) : to).raw(i, part)))
    expect(sent.map(({ status }) => status)).toEqual(Array(6).fill(200))
    const replies = await Promise.all([to, to.at(other), to.at(other)].map((at) => at.finalize()))
    for (const { body } of replies) expect(body).toEqual(replies[0]?.body)
    await expectStored(to, bytes)
  })

  it('SESS-02 STATE-13 a file whose parts do not fit its started object accepts parts again after a failure', async () => {
    const [first, second] = [randomBytes(2 * PART), randomBytes(2 * PART)]
    const bytes = Buffer.concat([first, second])
    const begun = await session({ expected_hash: sha256(bytes) }, { filename: 'fit' })
    await begun.raw(0, 'stored', { file: 1 })
    expectRefusal(await begun.raw(0, randomBytes(PART), { sha256: sha256('other') }), 409, 'HASH_MISMATCH')
    const to = begun.at(coarse)
    for (const i of [0, 1]) expect((await to.raw(i, second)).status).toBe(200)
    expect((await to.finalize()).body).toMatchObject({ status: 'partial', files: [{ error: 'HASH_MISMATCH' }, {}] })
    expect((await to.raw(0, first)).status).toBe(200)
    await to.finalize()
    expect((await publicBytes(instance, locker, 'a')).equals(bytes)).toBe(true)
  })

  it('SESS-02 parts that an earlier release stored are combined with later ones', async () => {
    const bytes = randomBytes(3 * PART)
    const to = await session()
    // As separate objects, like every part of that release.
    for (const i of [0, 1]) await to.part(i, partsOf(bytes)[i]!)
    await send(to, bytes, [2])
    await expectStored(to, bytes)
  })

  it.each([
    ['SESS-02 parts that storage has lost', [0, 1, 2]],
    ['SESS-02 SESS-03 parts that changed in storage', [1]],
  ])('%s are missing and can be sent again, even where only a restarted gateway reads them', async (title, missing) => {
    const bytes = randomBytes(3 * PART)
    const to = (await session()).at(other)
    await send(to.at(instance), bytes, [0, 1, 2])
    const folder = await partsFolder(to)
    const changed = Buffer.concat([bytes.subarray(0, PART), randomBytes(PART), bytes.subarray(2 * PART)])
    if (title.includes('lost')) await rm(folder, { recursive: true })
    else await writeFile(join(folder, 'bytes'), changed)
    expect((await to.finalize()).body).toMatchObject({ status: 'partial', files: [{ missing_parts: missing }] })
    await send(to, bytes, missing)
    await expectStored(to, bytes)
  })

  it('LIM-12 T-11 parts beyond the declared size are refused and use no space', { tags: ['nightly'] }, async () => {
    const bytes = randomBytes(3 * PART)
    const to = await session({ size_bytes: 2 * PART })
    await send(to, bytes, [0, 1])
    for (const i of [1, 2, 3, 500]) {
      const { status } = await to.raw(i, randomBytes(PART))
      expect([i, status]).toEqual([i, i === 1 ? 200 : 413])
    }
    expect((await stat(join(await partsFolder(to), 'bytes'))).size).toBe(2 * PART)
    expect((await to.finalize()).body.status).toBe('complete')
  })

  it('T-11 a short part whose position is beyond the declared size does not make the object longer', async () => {
    const to = await session({ size_bytes: 2 * PART })
    await send(to, randomBytes(PART), [0])
    expect((await to.raw(500, 'x')).status).toBe(200)
    expect((await stat(join(await partsFolder(to), 'bytes'))).size).toBe(PART)
  })

  it('SESS-03 an object that is being completed is not started again', async () => {
    const { openParts } = instance.gateway.context
    const to = await session()
    const { session_id, files } = to.opened
    const row = (await findSession(db(), session_id))!
    const before = (await findSessionFile(db(), session_id, files[0]!.file_id))!
    const part = { index: 0, size: PART }
    expect(await openParts(row, before, part)).not.toBeNull()
    const folder = await partsFolder(to)
    await rm(folder, { recursive: true })
    const sealed = { upload_state: 'sealed' } as const
    await writable(db()).updateTable('upload_session_files').set(sealed).where('session_id', '=', session_id).execute()
    expect(await openParts(row, before, part)).toBeNull()
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('SESS-05 a session that ends leaves nothing', async () => {
    const before = await objectIds()
    const to = await openTestSession(instance, locker, { files: [{ filename: 'left' }], ttl_min: 1 })
    await send(to, randomBytes(2 * PART), [0, 1])
    const folder = await partsFolder(to)
    expect((await stat(folder)).isDirectory()).toBe(true)
    instance.clock.advance(60)
    expect((await to.status()).body.status).toBe('failed')
    instance.clock.advance(16 * 60)
    await sweepObjects(instance.gateway.context)
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await objectIds()).filter((id) => !before.includes(id))).toEqual([])
  })
})

it('T-11 short parts that arrive early are buffered while memory allows, and read again otherwise', {
  tags: ['nightly'],
}, async () => {
  const hashes = createPartHashes(plainHashThread())
  const contents = Array.from({ length: 200 }, (_, i) => `part ${i} `)
  for (const index of [...contents.keys()].reverse()) {
    const part = hashes.along(
      { file: 'file', index, hasSha256: true },
      Readable.from([Buffer.from(contents[index]!)]),
      () => {},
    )
    await buffer(part.bytes)
    await part.stored()
    part.close()
  }
  const parts = contents.map((content) => sha256(content))
  const readFrom: number[] = []
  const hash = await hashes.ofFile('file', parts, async (index) => {
    readFrom.push(index)
    return Readable.from([Buffer.from(contents.slice(index).join(''))])
  })
  expect(hash).toBe(`sha256:${sha256(contents.join(''))}`)
  expect(readFrom).toEqual([expect.any(Number)])
})
