import { randomBytes } from 'node:crypto'
import {
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { forEachDatabase } from '@svc/devnet/databases'
import { describe, expect, it } from 'vitest'
import { lockerRow } from '../../files/files.ts'
import { rowOf, sha256 } from '../../transfers/transfers.ts'
import { expectS3Error } from '../s3-house.ts'
import { etagOf, PART, uploadHouse } from './upload-house.ts'

forEachDatabase('uploads of S3 in parts', (database) => {
  const uploads = uploadHouse(database)
  const heldObjects = async () => (await uploads.rows('objects').where('state', '=', 'held').execute()).length

  describe('from beginning to end', () => {
    it('T-98 ADD-45 lib-storage uploads a buffer in parts, which are written once and never read', async () => {
      const Bucket = uploads.bucket.name
      const bytes = randomBytes(3 * PART + 1000)
      const params = { Bucket, Key: 'large.bin', Body: bytes, ContentType: 'image/png', Metadata: { colour: 'red' } }
      const before = await heldObjects()
      const completed = await new Upload({ client: uploads.bucket.client, params, partSize: PART, queueSize: 1 }).done()
      expect(completed).toMatchObject({ ETag: etagOf(bytes), ChecksumType: 'COMPOSITE' })
      expect(completed.ChecksumCRC32).toMatch(/^.{8}-4$/)
      expect(uploads.storage.reads).toEqual([])
      expect(await heldObjects()).toBe(before + 1)
      expect(await rowOf(uploads.house, uploads.bucket.locker, 'large.bin')).toMatchObject({
        content_type: 'image/png',
        content_hash: `sha256:${sha256(bytes)}`,
        size_bytes: bytes.length,
        hash_recorded_at: expect.any(String),
      })
      const head = await uploads.bucket.client.send(new HeadObjectCommand({ Bucket, Key: 'large.bin' }))
      expect(head).toMatchObject({ ETag: etagOf(bytes), ContentLength: bytes.length, Metadata: { colour: 'red' } })
      expect((await uploads.bytesOf('large.bin')).equals(bytes)).toBe(true)
    })

    it('T-98 parts come at the same time and in any order, are rewritten, and differ in length', {
      tags: ['nightly'],
    }, async () => {
      const Bucket = uploads.bucket.name
      const parts = [randomBytes(PART), randomBytes(PART + 7), randomBytes(PART), randomBytes(10)]
      const upload = await uploads.begin('any order')
      await upload.put(2, randomBytes(PART))
      const sent = await Promise.all([4, 1, 3, 2].map((n) => upload.put(n, parts[n - 1]!)))
      expect(sent.map(({ ETag }) => ETag)).toEqual([4, 1, 3, 2].map((n) => etagOf(parts[n - 1]!)))
      const bytes = Buffer.concat(parts)
      const completed = await upload.complete(parts.map((part, i) => [i + 1, part]))
      expect(completed).toMatchObject({ ETag: etagOf(bytes), Bucket, Key: 'any order' })
      expect((await uploads.bytesOf('any order')).equals(bytes)).toBe(true)
    })

    it('T-98 numbers may have gaps, and parts that are not named are dropped', { tags: ['nightly'] }, async () => {
      const [first, second, third] = [randomBytes(PART), randomBytes(PART), randomBytes(99)]
      const upload = await uploads.begin('gaps')
      const before = await heldObjects()
      const named = [
        [3, first],
        [700, second],
        [10_000, third],
      ] as const
      for (const [n, part] of [...named, [5, randomBytes(PART)], [9, third]] as const) await upload.put(n, part)
      await upload.complete(named)
      expect((await uploads.bytesOf('gaps')).equals(Buffer.concat([first, second, third]))).toBe(true)
      expect(await heldObjects()).toBe(before + 1)
    })

    it('T-98 one short or empty part is a file', async () => {
      for (const bytes of [Buffer.from('short'), Buffer.alloc(0)]) {
        const upload = await uploads.begin('one')
        await upload.put(1, bytes)
        expect((await upload.complete([[1, bytes]])).ETag).toBe(etagOf(bytes))
        expect(await uploads.bytesOf('one')).toEqual(bytes)
      }
    })

    it('T-98 completing again answers the same, and with other parts that there is no such upload', async () => {
      const upload = await uploads.begin('again')
      const bytes = randomBytes(100)
      await upload.put(1, bytes)
      const [a, b] = await Promise.all([upload.complete([[1, bytes]]), upload.complete([[1, bytes]])])
      const c = await upload.complete([[1, bytes]])
      for (const answer of [b, c]) expect({ ...answer, $metadata: null }).toEqual({ ...a, $metadata: null })
      const changedOnce = { file_count: 1, manifest_version: 1 }
      expect(await lockerRow(uploads.house, uploads.bucket.locker)).toMatchObject(changedOnce)
      await expectS3Error(upload.complete([[2, bytes]]), 404, 'NoSuchUpload')
      await expectS3Error(upload.put(1, bytes), 404, 'NoSuchUpload')
      await expectS3Error(upload.abort(), 404, 'NoSuchUpload')
    })

    it('T-98 a part is copied from a stored file, or from a range of it', async () => {
      const Bucket = uploads.bucket.name
      const source = randomBytes(PART + 500)
      await uploads.bucket.locker.put('source', source)
      const upload = await uploads.begin('copied', { ChecksumAlgorithm: 'CRC32' })
      const CopySource = `${Bucket}/source`
      const copy = (PartNumber: number, more: object = {}) =>
        uploads.bucket.client.send(new UploadPartCopyCommand({ ...upload.of, PartNumber, CopySource, ...more }))
      expect((await copy(1)).CopyPartResult?.ETag).toBe(etagOf(source))
      await copy(2, { CopySourceRange: 'bytes=10-19' })
      for (const range of ['bytes=0-', 'bytes=5-4', 'bytes=0-1,3-4'])
        await expectS3Error(copy(3, { CopySourceRange: range }), 400, 'InvalidArgument')
      await expectS3Error(copy(3, { CopySourceRange: `bytes=0-${source.length}` }), 416, 'InvalidRange')
      await expectS3Error(copy(3, { CopySource: `${Bucket}/none` }), 404, 'NoSuchKey')
      await expectS3Error(copy(3, { CopySource: 'another/source' }), 403, 'AccessDenied')
      const { Parts } = await upload.list()
      expect(Parts?.map(({ Size }) => Size)).toEqual([source.length, 10])
      await upload.complete([
        [1, source],
        [2, source.subarray(10, 20)],
      ])
      expect((await uploads.bytesOf('copied')).equals(Buffer.concat([source, source.subarray(10, 20)]))).toBe(true)
    })
  })

  describe('lists', () => {
    it('T-98 parts are listed page by page, with their ETags, sizes and checksums', async () => {
      const upload = await uploads.begin('listed', { ChecksumAlgorithm: 'CRC32C' })
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
        expect(LastModified?.getTime()).toBe(Math.floor(uploads.house.clock.now() / 1000) * 1000)
    })

    it('T-98 uploads are listed to every credential of the locker, by prefix, folder and page', async () => {
      const Bucket = uploads.bucket.name
      for (const Key of ['b/1', 'a', 'b/2', 'c', 'a']) await uploads.begin(Key)
      const list = async (more: object = {}) =>
        uploads.bucket.client.send(new ListMultipartUploadsCommand({ Bucket, ...more }))
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
      const narrow = await uploads.bucket.clientWith({}, { prefix: 'b/' })
      const within = await narrow.send(new ListMultipartUploadsCommand({ Bucket, Prefix: 'b/' }))
      expect(within.Uploads?.map(({ Key }) => Key)).toEqual(['b/1', 'b/2'])
      await expectS3Error(narrow.send(new ListMultipartUploadsCommand({ Bucket })), 403, 'AccessDenied')
      await expectS3Error(narrow.send(new CreateMultipartUploadCommand({ Bucket, Key: 'a' })), 403, 'AccessDenied')
    })
  })
})
