import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweepSessions } from '../../../src/transfers/sessions/close-session.ts'
import { ed25519Identity } from '../../auth/lockers.ts'
import { type WatchedStorage, watchedStorage } from '../../files/confirm/confirm.ts'
import { rowOf, sha256 } from '../../transfers/transfers.ts'
import { askCredentials, askKey, done } from '../credentials/credentials-house.ts'
import { type Bucket, expectS3Error, openS3House, type S3House } from '../s3-house.ts'

const PART = 5 * 1_048_576
const etagOf = (bytes: Uint8Array) => `"${sha256(bytes).slice(0, 32)}-1"`

forEachDatabase('uploads of S3 in parts', (database) => {
  let storage: WatchedStorage
  let house: S3House
  let bucket: Bucket
  let Bucket: string
  beforeAll(async () => {
    storage = await watchedStorage()
    house = await openS3House({ DATABASE_URL: database.url }, { providers: storage.providers })
  })
  afterAll(async () => {
    await house.close()
    await storage.remove()
  })
  beforeEach(async () => {
    bucket = await house.bucket()
    Bucket = bucket.name
    storage.reads.length = 0
  })

  async function begin(Key: string, more: object = {}) {
    const { UploadId } = await bucket.client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }))
    const of = { Bucket, Key, UploadId }
    return {
      of,
      put: (PartNumber: number, Body: Uint8Array, changes: object = {}) =>
        bucket.client.send(new UploadPartCommand({ ...of, PartNumber, Body, ...changes })),
      complete: (parts: readonly (readonly [number, Uint8Array])[], changes: object = {}) =>
        bucket.client.send(
          new CompleteMultipartUploadCommand({
            ...of,
            MultipartUpload: { Parts: parts.map(([PartNumber, bytes]) => ({ PartNumber, ETag: etagOf(bytes) })) },
            ...changes,
          }),
        ),
      list: (changes: object = {}) => bucket.client.send(new ListPartsCommand({ ...of, ...changes })),
      abort: () => bucket.client.send(new AbortMultipartUploadCommand({ ...of })),
    }
  }
  const bytesOf = async (Key: string) => {
    const { Body } = await bucket.client.send(new GetObjectCommand({ Bucket, Key }))
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }
  const rows = (table: 'upload_parts' | 'objects') => house.gateway.context.database.db.selectFrom(table).selectAll()
  const heldObjects = async () => (await rows('objects').where('state', '=', 'held').execute()).length

  describe('from beginning to end', () => {
    it('T-98 ADD-45 lib-storage uploads a stream in parallel parts, which are written once and never read', async () => {
      const bytes = randomBytes(3 * PART + 1000)
      const params = { Bucket, Key: 'large.bin', Body: bytes, ContentType: 'image/png', Metadata: { colour: 'red' } }
      const before = await heldObjects()
      const completed = await new Upload({ client: bucket.client, params, partSize: PART, queueSize: 1 }).done()
      expect(completed).toMatchObject({ ETag: etagOf(bytes), ChecksumType: 'COMPOSITE' })
      expect(completed.ChecksumCRC32).toMatch(/^.{8}-4$/)
      expect(storage.reads).toEqual([])
      expect(await heldObjects()).toBe(before + 1)
      expect(await rowOf(house, bucket.locker, 'large.bin')).toMatchObject({
        content_type: 'image/png',
        content_hash: `sha256:${sha256(bytes)}`,
        size_bytes: bytes.length,
        hash_recorded_at: expect.any(String),
      })
      const head = await bucket.client.send(new HeadObjectCommand({ Bucket, Key: 'large.bin' }))
      expect(head).toMatchObject({ ETag: etagOf(bytes), ContentLength: bytes.length, Metadata: { colour: 'red' } })
      expect((await bytesOf('large.bin')).equals(bytes)).toBe(true)
    })

    it('T-98 parts come at the same time and in any order, are rewritten, and differ in length', async () => {
      const parts = [randomBytes(PART), randomBytes(PART + 7), randomBytes(PART), randomBytes(10)]
      const upload = await begin('any order')
      await upload.put(2, randomBytes(PART))
      const sent = await Promise.all([4, 1, 3, 2].map((n) => upload.put(n, parts[n - 1]!)))
      expect(sent.map(({ ETag }) => ETag)).toEqual([4, 1, 3, 2].map((n) => etagOf(parts[n - 1]!)))
      const bytes = Buffer.concat(parts)
      const completed = await upload.complete(parts.map((part, i) => [i + 1, part]))
      expect(completed).toMatchObject({ ETag: etagOf(bytes), Bucket, Key: 'any order' })
      expect((await bytesOf('any order')).equals(bytes)).toBe(true)
    })

    it('T-98 numbers may have gaps, and parts that are not named are dropped', async () => {
      const [first, second, third] = [randomBytes(PART), randomBytes(PART), randomBytes(99)]
      const upload = await begin('gaps')
      const before = await heldObjects()
      for (const [n, part] of [
        [3, first],
        [5, randomBytes(PART)],
        [10_000, third],
        [700, second],
        [9, third],
      ] as const)
        await upload.put(n, part)
      await upload.complete([
        [3, first],
        [700, second],
        [10_000, third],
      ])
      expect((await bytesOf('gaps')).equals(Buffer.concat([first, second, third]))).toBe(true)
      expect(await heldObjects()).toBe(before + 1)
    })

    it('T-98 one short or empty part is a file', async () => {
      for (const bytes of [Buffer.from('short'), Buffer.alloc(0)]) {
        const upload = await begin('one')
        await upload.put(1, bytes)
        expect((await upload.complete([[1, bytes]])).ETag).toBe(etagOf(bytes))
        expect(await bytesOf('one')).toEqual(bytes)
      }
    })

    it('T-98 completing again answers the same, and with other parts that there is no such upload', async () => {
      const upload = await begin('again')
      const bytes = randomBytes(100)
      await upload.put(1, bytes)
      const [a, b] = await Promise.all([upload.complete([[1, bytes]]), upload.complete([[1, bytes]])])
      const c = await upload.complete([[1, bytes]])
      for (const answer of [b, c]) expect({ ...answer, $metadata: null }).toEqual({ ...a, $metadata: null })
      const { file_count, manifest_version } = await house.gateway.context.database.db
        .selectFrom('lockers')
        .selectAll()
        .where('locker_id', '=', Bucket)
        .executeTakeFirstOrThrow()
      expect([file_count, manifest_version]).toEqual([1, 1])
      await expectS3Error(upload.complete([[2, bytes]]), 404, 'NoSuchUpload')
      await expectS3Error(upload.put(1, bytes), 404, 'NoSuchUpload')
      await expectS3Error(upload.abort(), 404, 'NoSuchUpload')
    })

    it('T-98 a part is copied from a stored file, or from a range of it', async () => {
      const source = randomBytes(PART + 500)
      await bucket.locker.put('source', source)
      const upload = await begin('copied', { ChecksumAlgorithm: 'CRC32' })
      const CopySource = `${Bucket}/source`
      const copy = (PartNumber: number, more: object = {}) =>
        bucket.client.send(new UploadPartCopyCommand({ ...upload.of, PartNumber, CopySource, ...more }))
      expect((await copy(1)).CopyPartResult?.ETag).toBe(etagOf(source))
      await copy(2, { CopySourceRange: 'bytes=10-19' })
      for (const range of ['bytes=0-', 'bytes=5-4', `bytes=0-${source.length}`, 'bytes=0-1,3-4'])
        await expectS3Error(copy(3, { CopySourceRange: range }), 400, 'InvalidArgument')
      await expectS3Error(copy(3, { CopySource: `${Bucket}/none` }), 404, 'NoSuchKey')
      await expectS3Error(copy(3, { CopySource: 'another/source' }), 403, 'AccessDenied')
      const { Parts } = await upload.list()
      expect(Parts?.map(({ Size }) => Size)).toEqual([source.length, 10])
      await upload.complete([
        [1, source],
        [2, source.subarray(10, 20)],
      ])
      expect((await bytesOf('copied')).equals(Buffer.concat([source, source.subarray(10, 20)]))).toBe(true)
    })
  })

  describe('lists', () => {
    it('T-98 parts are listed page by page, with their ETags, sizes and checksums', async () => {
      const upload = await begin('listed', { ChecksumAlgorithm: 'CRC32C' })
      const parts = [1, 2, 7].map((n) => [n, randomBytes(n)] as const)
      for (const [n, part] of parts) await upload.put(n, part, { ChecksumAlgorithm: 'CRC32C' })
      const first = await upload.list({ MaxParts: 2 })
      expect(first).toMatchObject({ IsTruncated: true, NextPartNumberMarker: '2', ChecksumAlgorithm: 'CRC32C' })
      const rest = await upload.list({ PartNumberMarker: first.NextPartNumberMarker })
      expect(rest.IsTruncated).toBe(false)
      const listed = [...(first.Parts ?? []), ...(rest.Parts ?? [])]
      expect(listed).toMatchObject(parts.map(([n, part]) => ({ PartNumber: n, Size: n, ETag: etagOf(part) })))
      for (const part of listed) expect(part).toMatchObject({ ChecksumCRC32C: expect.any(String) })
      for (const { LastModified } of listed)
        expect(LastModified?.getTime()).toBe(Math.floor(house.clock.now() / 1000) * 1000)
    })

    it('T-98 uploads are listed to every credential of the locker, by prefix, folder and page', async () => {
      for (const Key of ['b/1', 'a', 'b/2', 'c', 'a']) await begin(Key)
      const list = async (more: object = {}) => bucket.client.send(new ListMultipartUploadsCommand({ Bucket, ...more }))
      expect((await list()).Uploads?.map(({ Key }) => Key)).toEqual(['a', 'a', 'b/1', 'b/2', 'c'])
      expect((await list({ Prefix: 'b/' })).Uploads?.map(({ Key }) => Key)).toEqual(['b/1', 'b/2'])
      const seen: unknown[] = []
      let marker: object = {}
      for (;;) {
        const page = await list({ MaxUploads: 1, Delimiter: '/', ...marker })
        seen.push(page.Uploads?.[0]?.Key ?? page.CommonPrefixes?.[0]?.Prefix)
        marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
        if (!page.IsTruncated) break
      }
      expect(seen).toEqual(['a', 'a', 'b/', 'c'])
      const narrow = await bucket.clientWith({}, { prefix: 'b/' })
      const within = await narrow.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'b/' }))
      expect(within.Uploads?.map(({ Key }) => Key)).toEqual(['b/1', 'b/2'])
      await expectS3Error(narrow.send(new ListMultipartUploadsCommand({ Bucket })), 403, 'AccessDenied')
      await expectS3Error(narrow.send(new CreateMultipartUploadCommand({ Bucket, Key: 'a' })), 403, 'AccessDenied')
    })
  })

  describe('checksums', () => {
    it.each(['CRC32', 'CRC32C', 'CRC64NVME'] as const)(
      'T-98 %s of the whole object is made of those of its parts, and compared with what is sent',
      async (ChecksumAlgorithm) => {
        const parts = [randomBytes(PART), randomBytes(1234)] as const
        const whole = await begin('one part', { ChecksumAlgorithm, ChecksumType: 'FULL_OBJECT' })
        await whole.put(1, Buffer.concat(parts), { ChecksumAlgorithm })
        const name = `Checksum${ChecksumAlgorithm}` as const
        const expected = (await whole.complete([[1, Buffer.concat(parts)]]))[name]
        const upload = await begin('two parts', { ChecksumAlgorithm, ChecksumType: 'FULL_OBJECT' })
        // Without its checksum, which the gateway computes then.
        await upload.put(1, parts[0], { ChecksumAlgorithm })
        await bucket.send('PUT', `two%20parts?partNumber=2&uploadId=${upload.of.UploadId}`, { body: parts[1] })
        const list = parts.map((part, i) => [i + 1, part] as const)
        const wrong = ChecksumAlgorithm === 'CRC64NVME' ? 'AAAAAAAAAAA=' : 'AAAAAA=='
        await expectS3Error(upload.complete(list, { [name]: wrong }), 400, 'BadDigest')
        await expectS3Error(upload.complete(list, { ChecksumType: 'COMPOSITE' }), 400, 'InvalidRequest')
        await expectS3Error(upload.complete(list, { MpuObjectSize: 1 }), 400, 'InvalidRequest')
        const completed = await upload.complete(list, {
          [name]: expected,
          ChecksumType: 'FULL_OBJECT',
          MpuObjectSize: PART + 1234,
        })
        expect(completed).toMatchObject({ [name]: expected, ChecksumType: 'FULL_OBJECT' })
      },
    )

    it('T-98 a part that is not what its checksum says leaves nothing', async () => {
      const upload = await begin('damaged')
      for (const size of [10, PART]) {
        await expectS3Error(upload.put(1, randomBytes(size), { ChecksumCRC32: 'AAAAAA==' }), 400, 'BadDigest')
      }
      expect((await upload.list()).Parts ?? []).toEqual([])
      const bytes = randomBytes(PART)
      await upload.put(1, bytes)
      await upload.complete([[1, bytes]])
    })
  })

  describe('refusals', () => {
    it('T-98 refuses numbers beyond 1 to 10000, and uploads that are not of this key and locker', async () => {
      const upload = await begin('mine')
      const path = (key: string, number: string, id = upload.of.UploadId) =>
        `${key}?partNumber=${number}&uploadId=${id}`
      for (const number of ['0', '10001', '-1', '1.5', '', '99999999999999999999', 'a']) {
        expect((await bucket.send('PUT', path('mine', number), { body: 'x' })).code, number).toBe('InvalidArgument')
      }
      const other = await house.bucket()
      const wrong = [
        bucket.send('PUT', path('other', '1'), { body: 'x' }),
        bucket.send('PUT', path('mine', '1', `us_${'0'.repeat(32)}`), { body: 'x' }),
        bucket.send('PUT', path('mine', '1', 'x'.repeat(2000)), { body: 'x' }),
        bucket.send('PUT', path('mine', '1', 'us_or'), { body: 'x' }),
        other.send('PUT', path('mine', '1'), { body: 'x' }),
        other.send('DELETE', `mine?uploadId=${upload.of.UploadId}`),
        other.send('GET', `mine?uploadId=${upload.of.UploadId}`),
      ]
      for (const { status, code } of await Promise.all(wrong)) expect([status, code]).toEqual([404, 'NoSuchUpload'])
      const token = { 'x-upload-token': 'a'.repeat(43) }
      const session = await house.send('GET', `/v1/upload-sessions/${upload.of.UploadId}`, undefined, token)
      expect(session.status).toBe(401)
    })

    it('T-98 refuses lists that are empty, out of order, unknown, too short or malformed, and changes nothing', async () => {
      const [small, large] = [randomBytes(100), randomBytes(PART)]
      const upload = await begin('refused')
      await upload.put(1, small)
      await upload.put(2, large)
      const both = [
        [1, small],
        [2, large],
      ] as const
      await expectS3Error(upload.complete(both), 400, 'EntityTooSmall')
      await expectS3Error(upload.complete([both[1], both[0]]), 400, 'InvalidPartOrder')
      await expectS3Error(upload.complete([both[0], both[0]]), 400, 'InvalidPartOrder')
      await expectS3Error(upload.complete([[1, large]]), 400, 'InvalidPart')
      await expectS3Error(upload.complete([[3, large]]), 400, 'InvalidPart')
      const send = (body: string) => bucket.send('POST', `refused?uploadId=${upload.of.UploadId}`, { body })
      const part = (n: string) => `<Part><PartNumber>${n}</PartNumber><ETag>x</ETag></Part>`
      const list = (parts: string) => `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`
      for (const body of ['', 'x', list(''), '<Other/>', list('<Part/>'), `<!DOCTYPE a>${list(part('1'))}`])
        expect((await send(body)).code, body).toBe('MalformedXML')
      expect((await send(list(part('0')))).code).toBe('InvalidArgument')
      expect((await send(list(part('1').repeat(10_001)))).code).toBe('InvalidPartOrder')
      expect((await send(' '.repeat(5 * 1_048_576))).status).toBe(400)
      expect((await upload.list()).Parts).toHaveLength(2)
      await upload.complete([[2, large]])
    })

    it('T-98 keys, types and metadata are refused by the rules for objects, and uploads have a limit', async () => {
      const create = (Key: string, more: object = {}) =>
        bucket.client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }))
      for (const Key of ['a:b', '.hidden', 'folder/']) await expectS3Error(create(Key), 400, 'InvalidArgument')
      await expectS3Error(create('a', { Metadata: { much: 'x'.repeat(3000) } }), 400, 'MetadataTooLarge')
      const [algorithm, type] = ['SHA256', 'FULL_OBJECT']
      await expectS3Error(create('a', { ChecksumAlgorithm: algorithm, ChecksumType: type }), 400, 'InvalidRequest')
      const { db } = house.gateway.context.database
      const { UploadId } = await create('a')
      const [row] = await db.selectFrom('upload_sessions').selectAll().where('session_id', '=', UploadId!).execute()
      const more = Array.from({ length: 999 }, (_, i) => ({ ...row!, session_id: `us_${i}${Bucket}` }))
      for (let at = 0; at < 999; at += 333)
        await db
          .insertInto('upload_sessions')
          .values(more.slice(at, at + 333))
          .execute()
      await expectS3Error(create('b'), 400, 'InvalidRequest')
    })

    it('T-98 If-None-Match and If-Match decide about the object that is there, when the upload is completed', async () => {
      const bytes = randomBytes(PART)
      const upload = await begin('conditional')
      await upload.put(1, bytes)
      await expectS3Error(upload.complete([[1, bytes]], { IfMatch: etagOf(bytes) }), 404, 'NoSuchKey')
      await bucket.locker.put('conditional', 'there')
      await expectS3Error(upload.complete([[1, bytes]], { IfNoneMatch: '*' }), 412, 'PreconditionFailed')
      await expectS3Error(upload.complete([[1, bytes]], { IfMatch: etagOf(bytes) }), 412, 'PreconditionFailed')
      expect(String(await bytesOf('conditional'))).toBe('there')
      await upload.complete([[1, bytes]], { IfMatch: etagOf(Buffer.from('there')) })
      expect((await bytesOf('conditional')).equals(bytes)).toBe(true)
    })
  })

  describe('ends', () => {
    it('T-98 what an operator began ends with the operator, and a part on its way is refused', async () => {
      const operator = ed25519Identity()
      await bucket.locker.call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity })
      const theirs = done(await askCredentials(bucket.locker, { access: 'write' }, operator))
      const credentials = {
        accessKeyId: theirs.access_key_id,
        secretAccessKey: theirs.secret_access_key,
        sessionToken: theirs.session_token,
      }
      const client = await bucket.clientWith({ credentials })
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'theirs' }))
      const of = { Bucket, Key: 'theirs', UploadId }
      const own = await begin('own')
      // The operator's access ends while the last byte is still to come.
      const removed = Promise.withResolvers<void>()
      const began = Promise.withResolvers<void>()
      async function* slow() {
        yield Buffer.alloc(100)
        began.resolve()
        await removed.promise
        yield Buffer.alloc(100)
      }
      const Body = Readable.from(slow())
      const sending = client.send(new UploadPartCommand({ ...own.of, PartNumber: 1, Body, ContentLength: 200 }))
      const refused = expectS3Error(sending, 403, 'AccessDenied')
      await began.promise
      await bucket.locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
      removed.resolve()
      await refused
      expect((await own.list()).Parts ?? []).toEqual([])
      await expectS3Error(bucket.client.send(new ListPartsCommand(of)), 404, 'NoSuchUpload')
      const open = await bucket.client.send(new ListMultipartUploadsCommand({ Bucket }))
      expect(open.Uploads?.map(({ Key }) => Key)).toEqual(['own'])
    })

    it('T-98 an upload that is aborted, or seven days old, leaves nothing', async () => {
      const credentials = await longLived()
      const [aborted, expired] = [await begin('aborted'), await begin('expired')]
      for (const upload of [aborted, expired]) {
        await upload.put(1, randomBytes(PART))
        await upload.put(2, randomBytes(10))
      }
      await aborted.abort()
      await expectS3Error(aborted.abort(), 404, 'NoSuchUpload')
      await expectS3Error(aborted.put(3, randomBytes(1)), 404, 'NoSuchUpload')
      await expectS3Error(aborted.list(), 404, 'NoSuchUpload')
      house.clock.advance(7 * 86_400)
      const later = () => bucket.clientWith({ credentials, systemClockOffset: house.clock.now() - Date.now() })
      await expectS3Error((await later()).send(new ListPartsCommand(expired.of)), 404, 'NoSuchUpload')
      expect((await (await later()).send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []).toEqual([])
      await sweepSessions(house.gateway.rooms.transfers)
      const ids = [aborted.of.UploadId!, expired.of.UploadId!]
      expect(await rows('upload_parts').where('session_id', 'in', ids).execute()).toEqual([])
    })
  })

  async function longLived() {
    const key = done(await askKey(bucket.locker))
    return { accessKeyId: key.access_key_id, secretAccessKey: key.secret_access_key }
  }
})
