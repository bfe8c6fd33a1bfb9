import { randomBytes } from 'node:crypto'
import {
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { forEachDatabase } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { lockerRow } from '../../../files/files.ts'
import { rowOf, sha256 } from '../../http/transfers.ts'
import { expectS3Error } from '../s3-gateway.ts'
import { etagOf, PART, uploadGateway } from './upload-gateway.ts'

forEachDatabase('uploads of S3 in parts', (database) => {
  const { storage, instance, bucket, begin, rows, bytesOf } = uploadGateway(database)
  const heldObjects = async () => (await rows('objects').where('state', '=', 'held').execute()).length

  it('T-98 ADD-45 lib-storage uploads a buffer in parts, which are written once and never read', async () => {
    const of = { Bucket: bucket.name, Key: 'large.bin' }
    const bytes = randomBytes(3 * PART + 1000)
    const params = { ...of, Body: bytes, ContentType: 'image/png', Metadata: { colour: 'red' } }
    const before = await heldObjects()
    const completed = await new Upload({ client: bucket.client, params, partSize: PART, queueSize: 1 }).done()
    expect(completed).toMatchObject({ ETag: etagOf(bytes), ChecksumType: 'COMPOSITE' })
    expect(completed.ChecksumCRC32).toMatch(/^.{8}-4$/)
    expect(storage.reads).toEqual([])
    expect(await heldObjects()).toBe(before + 1)
    const hashed = { content_hash: `sha256:${sha256(bytes)}`, hash_recorded_at: expect.any(String) }
    const row = { content_type: 'image/png', size_bytes: bytes.length, ...hashed }
    expect(await rowOf(instance, bucket.locker, 'large.bin')).toMatchObject(row)
    const head = await bucket.client.send(new HeadObjectCommand(of))
    expect(head).toMatchObject({ ETag: etagOf(bytes), ContentLength: bytes.length, Metadata: { colour: 'red' } })
    expect((await bytesOf('large.bin')).equals(bytes)).toBe(true)
  })

  it('T-98 parts may arrive concurrently, in any order, repeatedly and with gaps; unnamed parts are dropped', {
    tags: ['nightly'],
  }, async () => {
    const parts = [randomBytes(PART), randomBytes(PART + 7), randomBytes(PART), randomBytes(10)]
    const numbers = [3, 4, 700, 10_000]
    const upload = await begin('any order')
    const before = await heldObjects()
    for (const n of [4, 5]) await upload.put(n, randomBytes(PART))
    const order = [3, 0, 2, 1]
    const sent = await Promise.all(order.map((i) => upload.put(numbers[i]!, parts[i]!)))
    expect(new Set(sent.map(({ ETag }) => ETag)).size).toBe(4)
    const bytes = Buffer.concat(parts)
    const completed = await upload.complete(parts, numbers)
    expect(completed).toMatchObject({ ETag: etagOf(bytes), Bucket: bucket.name, Key: 'any order' })
    expect((await bytesOf('any order')).equals(bytes)).toBe(true)
    expect(await heldObjects()).toBe(before + 1)
  })

  it('T-98 one short or empty part makes a file', async () => {
    for (const bytes of [Buffer.from('short'), Buffer.alloc(0)]) {
      const upload = await begin('one')
      await upload.put(1, bytes)
      expect((await upload.complete([bytes])).ETag).toBe(etagOf(bytes))
      expect(await bytesOf('one')).toEqual(bytes)
    }
  })

  it('T-98 a repeated completion returns the same answer, and NoSuchUpload if its parts differ', async () => {
    const upload = await begin('again')
    const bytes = randomBytes(100)
    await upload.put(1, bytes)
    const answers = await Promise.all([upload.complete([bytes]), upload.complete([bytes])])
    answers.push(await upload.complete([bytes]))
    for (const answer of answers) expect(answer).toEqual({ ...answers[0], $metadata: answer.$metadata })
    const changedOnce = { file_count: 1, manifest_version: 1 }
    expect(await lockerRow(instance, bucket.locker)).toMatchObject(changedOnce)
    for (const late of [() => upload.complete([bytes], [2]), () => upload.put(1, bytes), upload.abort])
      await expectS3Error(late(), 404, 'NoSuchUpload')
  })

  it('T-98 a part is copied from a stored file, or from a range of it', async () => {
    const source = randomBytes(PART + 500)
    await bucket.locker.put('source', source)
    const upload = await begin('copied', { ChecksumAlgorithm: 'CRC32' })
    const copy = (PartNumber: number, CopySourceRange?: string, CopySource = `${bucket.name}/source`) =>
      bucket.client.send(new UploadPartCopyCommand({ ...upload.of, PartNumber, CopySource, CopySourceRange }))
    upload.etags.set(source, (await copy(1)).CopyPartResult?.ETag)
    await copy(2, 'bytes=10-19')
    for (const range of ['bytes=0-', 'bytes=5-4', 'bytes=0-1,3-4'])
      await expectS3Error(copy(3, range), 400, 'InvalidArgument')
    await expectS3Error(copy(3, `bytes=0-${source.length}`), 416, 'InvalidRange')
    await expectS3Error(copy(3, undefined, `${bucket.name}/none`), 404, 'NoSuchKey')
    await expectS3Error(copy(3, undefined, 'another/source'), 403, 'AccessDenied')
    const { Parts } = await upload.list()
    expect(Parts?.map(({ Size }) => Size)).toEqual([source.length, 10])
    const parts = [source, source.subarray(10, 20)]
    await upload.complete(parts)
    expect((await bytesOf('copied')).equals(Buffer.concat(parts))).toBe(true)
  })

  it('T-98 parts are listed page by page, with their ETags, sizes and checksums', async () => {
    const upload = await begin('listed', { ChecksumAlgorithm: 'CRC32C' })
    const parts = [1, 2, 7].map((n) => [n, randomBytes(n)] as const)
    for (const [n, part] of parts) await upload.put(n, part, { ChecksumAlgorithm: 'CRC32C' })
    const first = await upload.list({ MaxParts: 2 })
    expect(first).toMatchObject({ IsTruncated: true, NextPartNumberMarker: '2', ChecksumAlgorithm: 'CRC32C' })
    const rest = await upload.list({ PartNumberMarker: first.NextPartNumberMarker })
    expect(rest.IsTruncated).toBe(false)
    const LastModified = new Date(Math.floor(instance.clock.now() / 1000) * 1000)
    const facts = { ChecksumCRC32C: expect.any(String), LastModified }
    const listed = parts.map(([n, part]) => ({ PartNumber: n, Size: n, ETag: etagOf(part), ...facts }))
    expect([...first.Parts!, ...rest.Parts!]).toMatchObject(listed)
  })

  it('T-98 uploads are listed to every credential of the locker, by prefix, folder and page', async () => {
    const Bucket = bucket.name
    for (const Key of ['b/1', 'a', 'b/2', 'c', 'a']) await begin(Key)
    const list = (more: object = {}, client = bucket.client) =>
      client.send(new ListMultipartUploadsCommand({ Bucket, ...more }))
    expect((await list()).Uploads?.map(({ Key }) => Key)).toEqual(['a', 'a', 'b/1', 'b/2', 'c'])
    const collected: unknown[] = []
    for (let marker: object | null = {}; marker; ) {
      const page = await list({ MaxUploads: 1, Delimiter: '/', ...marker })
      collected.push(page.Uploads?.[0]?.Key ?? page.CommonPrefixes?.[0]?.Prefix)
      marker = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : null
    }
    expect(collected).toEqual(['a', 'a', 'b/', 'c'])
    const narrow = await bucket.clientWith({}, { prefix: 'b/' })
    const within = await list({ Prefix: 'b/' }, narrow)
    expect(within.Uploads?.map(({ Key }) => Key)).toEqual(['b/1', 'b/2'])
    await expectS3Error(list({}, narrow), 403, 'AccessDenied')
    await expectS3Error(narrow.send(new CreateMultipartUploadCommand({ Bucket, Key: 'a' })), 403, 'AccessDenied')
  })
})
