import { createHash } from 'node:crypto'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectAclCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { forEachDatabase } from '@svc/devnet/databases'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rowOf, sha256 } from '../../transfers/transfers.ts'
import { type Bucket, expectS3Error, openS3House, type S3House } from '../s3-house.ts'

forEachDatabase('copies and deletions of S3', (database) => {
  let house: S3House
  let bucket: Bucket
  let client: S3Client
  let Bucket: string
  beforeAll(async () => {
    house = await openS3House({ DATABASE_URL: database.url })
    bucket = await house.bucket()
    ;({ client, name: Bucket } = bucket)
  })
  afterAll(() => house.close())

  const put = (Key: string, Body: string, more: object = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))
  const head = (Key: string) => client.send(new HeadObjectCommand({ Bucket, Key }))
  const textOf = async (Key: string) =>
    (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString()
  const copy = (from: string, Key: string, more: object = {}) =>
    client.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${encodeURIComponent(from)}`, ...more }))
  const row = (key: string) => rowOf(house, bucket.locker, key)

  it('ADD-43 CopyObject copies bytes with their hash and headers', async () => {
    await put('from ü', 'bytes', { ContentType: 'text/plain', Metadata: { a: '1' }, CacheControl: 'no-cache' })
    const { CopyObjectResult } = await copy('from ü', 'to')
    expect(CopyObjectResult).toMatchObject({
      ETag: `"${sha256('bytes').slice(0, 32)}-1"`,
      LastModified: expect.any(Date),
      ChecksumSHA256: createHash('sha256').update('bytes').digest('base64'),
    })
    expect(await textOf('to')).toBe('bytes')
    expect(await head('to')).toMatchObject({
      ContentType: 'text/plain',
      Metadata: { a: '1' },
      CacheControl: 'no-cache',
    })
    const [source, target] = [await row('from ü'), await row('to')]
    expect(target.content_hash).toBe(source.content_hash)
    expect(target.object_id).not.toBe(source.object_id)
  })

  it('ADD-43 CopyObject with REPLACE gives the copy other headers', async () => {
    await put('plain', 'bytes', { ContentType: 'text/plain', Metadata: { a: '1' } })
    await copy('plain', 'replaced', { MetadataDirective: 'REPLACE', ContentType: 'image/png', Metadata: { b: '2' } })
    expect(await head('replaced')).toMatchObject({ ContentType: 'image/png', Metadata: { b: '2' } })
  })

  it('ADD-43 an object that is copied onto itself gets other headers and keeps its bytes and its manifest', async () => {
    await put('self', 'bytes', { Metadata: { mtime: '1' } })
    const before = await row('self')
    const manifest = () =>
      house.gateway.context.database.db
        .selectFrom('lockers')
        .select(['manifest_version', 'total_bytes', 'file_count'])
        .where('locker_id', '=', Bucket)
        .executeTakeFirstOrThrow()
    const manifestBefore = await manifest()
    await copy('self', 'self', { MetadataDirective: 'REPLACE', ContentType: 'text/plain', Metadata: { mtime: '2' } })
    expect(await row('self')).toEqual({
      ...before,
      content_type: 'text/plain',
      metadata: '{"x-amz-meta-mtime":"2"}',
    })
    expect(await manifest()).toEqual(manifestBefore)
    await expectS3Error(copy('self', 'self'), 400, 'InvalidRequest')
  })

  it('ADD-43 CopyObject evaluates conditions on the source and on the target', async () => {
    await put('source', 'x')
    const { ETag, LastModified } = await head('source')
    const later = new Date((LastModified as Date).getTime() + 5000)
    const earlier = new Date((LastModified as Date).getTime() - 5000)
    await copy('source', 'copied', { CopySourceIfMatch: ETag, CopySourceIfUnmodifiedSince: earlier, IfNoneMatch: '*' })
    for (const condition of [
      { CopySourceIfMatch: '"other"' },
      { CopySourceIfNoneMatch: ETag },
      { CopySourceIfModifiedSince: later },
      { CopySourceIfUnmodifiedSince: earlier },
      { IfNoneMatch: '*' },
    ]) {
      await expectS3Error(copy('source', 'copied', condition), 412, 'PreconditionFailed')
    }
  })

  it('ADD-43 CopyObject takes its source from the same locker only', async () => {
    const other = await house.bucket()
    await other.client.send(new PutObjectCommand({ Bucket: other.name, Key: 'theirs', Body: 'x' }))
    await expectS3Error(copy('x', 'y', { CopySource: `${other.name}/theirs` }), 403, 'AccessDenied')
    await expectS3Error(copy('x', 'y', { CopySource: 'locker_000000000000/theirs' }), 403, 'AccessDenied')
    await expectS3Error(copy('absent', 'y'), 404, 'NoSuchKey')
    await expectS3Error(copy('x', 'y', { CopySource: Bucket }), 400, 'InvalidArgument')
    await expectS3Error(copy('x', 'y', { CopySource: `${Bucket}/%zz` }), 400, 'InvalidArgument')
  })

  it('ADD-43 a key for a folder copies and deletes within that folder only', async () => {
    await put('private', 'x')
    await put('mine/a', 'x')
    const scoped = await bucket.clientWith({}, { prefix: 'mine/' })
    const from = (key: string) => ({ Bucket, Key: 'mine/copy', CopySource: `${Bucket}/${key}` })
    await expectS3Error(scoped.send(new CopyObjectCommand(from('private'))), 403, 'AccessDenied')
    await scoped.send(new CopyObjectCommand(from('mine/a')))
    const Delete = { Objects: [{ Key: 'mine/a' }, { Key: 'private' }] }
    const { Deleted, Errors } = await scoped.send(new DeleteObjectsCommand({ Bucket, Delete }))
    expect(Deleted).toEqual([{ Key: 'mine/a' }])
    expect(Errors).toEqual([{ Key: 'private', Code: 'AccessDenied', Message: expect.any(String) }])
    expect(await textOf('private')).toBe('x')
  })

  it('ADD-43 DeleteObjects deletes what is there, by condition too, and says for each what happened', async () => {
    for (const key of ['d/1', 'd/2', 'd/3', 'd/<&>']) await put(key, key)
    const Objects = [{ Key: 'd/1' }, { Key: 'd/2', ETag: '"other"' }, { Key: 'd/absent' }, { Key: 'd/<&>' }]
    const { Deleted, Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    expect(Deleted).toEqual([{ Key: 'd/1' }, { Key: 'd/absent' }, { Key: 'd/<&>' }])
    expect(Errors).toEqual([{ Key: 'd/2', Code: 'PreconditionFailed', Message: expect.any(String) }])
    const quiet = { Objects: [{ Key: 'd/2' }, { Key: 'd/3', VersionId: 'v1' }], Quiet: true }
    const answer = await client.send(new DeleteObjectsCommand({ Bucket, Delete: quiet }))
    expect(answer.Deleted).toBeUndefined()
    expect(answer.Errors).toMatchObject([{ Key: 'd/3', Code: 'InvalidArgument' }])
    await expectS3Error(head('d/2'), 404, 'NotFound')
    expect(await textOf('d/3')).toBe('d/3')
  })

  it('ADD-43 a deletion may depend on size and time, and changes nothing where they are others', async () => {
    await put('conditional', 'bytes')
    const { LastModified } = await head('conditional')
    const earlier = new Date(LastModified!.getTime() - 1000)
    const remove = (more: object) => client.send(new DeleteObjectCommand({ Bucket, Key: 'conditional', ...more }))
    await expectS3Error(remove({ IfMatchSize: 4 }), 412, 'PreconditionFailed')
    await expectS3Error(remove({ IfMatchLastModifiedTime: earlier }), 412, 'PreconditionFailed')
    const Objects = [
      { Key: 'conditional', Size: 4 },
      { Key: 'conditional', LastModifiedTime: earlier },
    ]
    const { Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }))
    expect(Errors?.map(({ Code }) => Code)).toEqual(['PreconditionFailed', 'PreconditionFailed'])
    const bad = await bucket.send('DELETE', 'conditional', { headers: { 'x-amz-if-match-size': 'x' } })
    expect(bad.code).toBe('InvalidArgument')
    expect(await textOf('conditional')).toBe('bytes')
    await remove({ IfMatchSize: 5, IfMatchLastModifiedTime: LastModified })
    await expectS3Error(remove({ IfMatchSize: 5 }), 404, 'NoSuchKey')
  })

  it('ADD-43 DeleteObjects takes up to a thousand keys, and refuses other bodies', async () => {
    const many = (count: number) => ({ Objects: Array.from({ length: count }, (_, i) => ({ Key: `absent/${i}` })) })
    const { Deleted } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: many(1000) }))
    expect(Deleted).toHaveLength(1000)
    await expectS3Error(client.send(new DeleteObjectsCommand({ Bucket, Delete: many(1001) })), 400, 'MalformedXML')
    const post = (body: string) => bucket.send('POST', '', { target: `/s3/${Bucket}?delete=`, body })
    for (const body of [
      '',
      '<Delete>',
      '<Delete/>',
      '<Other><Object><Key>a</Key></Object></Other>',
      '<Delete><Object/></Delete>',
    ]) {
      const { status, code } = await post(body)
      expect([status, code], body).toEqual([400, 'MalformedXML'])
    }
    expect((await post('x'.repeat(5_000_000))).code).toBe('EntityTooLarge')
  })

  it('ADD-43 GetObjectAttributes, and the ACL and tags that clients ask for', async () => {
    await put('about', 'bytes')
    const key = { Bucket, Key: 'about' }
    const ObjectAttributes = ['ETag', 'Checksum', 'ObjectSize', 'StorageClass'] as const
    expect(
      await client.send(new GetObjectAttributesCommand({ ...key, ObjectAttributes: [...ObjectAttributes] })),
    ).toMatchObject({
      ETag: `${sha256('bytes').slice(0, 32)}-1`,
      Checksum: { ChecksumSHA256: createHash('sha256').update('bytes').digest('base64'), ChecksumType: 'FULL_OBJECT' },
      ObjectSize: 5,
      StorageClass: 'STANDARD',
      LastModified: expect.any(Date),
    })
    const ID = Bucket
    const { Owner, Grants } = await client.send(new GetObjectAclCommand(key))
    expect(Owner).toMatchObject({ ID })
    expect(Grants).toMatchObject([{ Grantee: { ID, Type: 'CanonicalUser' }, Permission: 'FULL_CONTROL' }])
    expect((await client.send(new GetObjectTaggingCommand(key))).TagSet).toEqual([])
    const setAcl = (ACL: 'private' | 'public-read') => client.send(new PutObjectAclCommand({ ...key, ACL }))
    await setAcl('private')
    const own = (id: string) =>
      `<AccessControlPolicy><AccessControlList><Grant><Grantee><ID>${id}</ID></Grantee><Permission>FULL_CONTROL</Permission></Grant></AccessControlList></AccessControlPolicy>`
    expect((await bucket.send('PUT', 'about?acl=', { body: own(ID) })).status).toBe(200)
    expect((await bucket.send('PUT', 'about?acl=', { body: own('other') })).code).toBe('AccessControlListNotSupported')
    await expectS3Error(setAcl('public-read'), 400, 'AccessControlListNotSupported')
    const Tagging = { TagSet: [{ Key: 'a', Value: 'b' }] }
    await expectS3Error(client.send(new PutObjectTaggingCommand({ ...key, Tagging })), 501, 'NotImplemented')
    await expectS3Error(client.send(new GetObjectAclCommand({ Bucket, Key: 'absent' })), 404, 'NoSuchKey')
  })
})
