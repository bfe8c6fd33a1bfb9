import { createHash } from 'node:crypto'
import {
  DeleteObjectsCommand,
  GetObjectAclCommand,
  GetObjectAttributesCommand,
  GetObjectTaggingCommand,
  type ObjectIdentifier,
  PutObjectAclCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { expect, it } from 'vitest'
import { lockerRow } from '../../../files/files.ts'
import { rowOf, sha256 } from '../../http/transfers.ts'
import { expectS3Error, objectsOf, openS3Gateway } from '../s3-gateway.ts'

forEachDatabase('copies and deletions of S3', (database) => {
  const instance = forAllTests(() => openS3Gateway({ DATABASE_URL: database.url }))
  const bucket = forEachTest(() => instance.bucket())
  const { put, head, copy, remove, bytesOf } = objectsOf(bucket)
  const textOf = async (key: string) => (await bytesOf(key)).toString()
  const row = (key: string) => rowOf(instance, bucket.locker, key)
  const removeAll = (Objects: ObjectIdentifier[], more: object = {}, client = bucket.client) =>
    client.send(new DeleteObjectsCommand({ Bucket: bucket.name, Delete: { Objects, ...more } }))

  it('ADD-43 CopyObject copies bytes with their hash and headers, or with other headers', async () => {
    const headers = { ContentType: 'text/plain', Metadata: { a: '1' }, CacheControl: 'no-cache' }
    await put('from ü', 'bytes', headers)
    expect((await copy('from ü', 'to')).CopyObjectResult).toMatchObject({
      ETag: `"${sha256('bytes').slice(0, 32)}-1"`,
      LastModified: expect.any(Date),
      ChecksumSHA256: createHash('sha256').update('bytes').digest('base64'),
    })
    expect(await textOf('to')).toBe('bytes')
    expect(await head('to')).toMatchObject(headers)
    const [source, target] = [await row('from ü'), await row('to')]
    expect(target.content_hash).toBe(source.content_hash)
    expect(target.object_id).not.toBe(source.object_id)
    const others = { ContentType: 'image/png', Metadata: { b: '2' } }
    await copy('from ü', 'replaced', { MetadataDirective: 'REPLACE', ...others })
    expect(await head('replaced')).toMatchObject(others)
  })

  it('ADD-43 an object that is copied onto itself gets new headers and keeps its bytes and its manifest', async () => {
    await put('self', 'bytes', { Metadata: { mtime: '1' } })
    const [before, manifest] = [await row('self'), await lockerRow(instance, bucket.locker)]
    await copy('self', 'self', { MetadataDirective: 'REPLACE', ContentType: 'text/plain', Metadata: { mtime: '2' } })
    const changed = { content_type: 'text/plain', metadata: '{"x-amz-meta-mtime":"2"}' }
    expect(await row('self')).toEqual({ ...before, ...changed })
    expect(await lockerRow(instance, bucket.locker)).toEqual(manifest)
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

  it('ADD-43 CopyObject accepts a source only from the same locker', async () => {
    const other = await instance.bucket()
    await objectsOf(other).put('theirs', 'x')
    const from = (CopySource: string) => copy('x', 'y', { CopySource })
    for (const name of [other.name, 'locker_000000000000'])
      await expectS3Error(from(`${name}/theirs`), 403, 'AccessDenied')
    await expectS3Error(copy('absent', 'y'), 404, 'NoSuchKey')
    for (const source of [bucket.name, `${bucket.name}/%zz`]) await expectS3Error(from(source), 400, 'InvalidArgument')
  })

  it('ADD-43 a key for a folder copies and deletes within that folder only', async () => {
    await put('private', 'x')
    await put('mine/a', 'x')
    const client = await bucket.clientWith({}, { prefix: 'mine/' })
    const scoped = objectsOf({ name: bucket.name, client })
    await expectS3Error(scoped.copy('private', 'mine/copy'), 403, 'AccessDenied')
    await scoped.copy('mine/a', 'mine/copy')
    const { Deleted, Errors } = await removeAll([{ Key: 'mine/a' }, { Key: 'private' }], {}, client)
    expect(Deleted).toEqual([{ Key: 'mine/a' }])
    expect(Errors).toEqual([{ Key: 'private', Code: 'AccessDenied', Message: expect.any(String) }])
    expect(await textOf('private')).toBe('x')
  })

  it('ADD-43 DeleteObjects deletes existing keys, conditionally too, and reports each result', async () => {
    for (const key of ['d/1', 'd/2', 'd/3', 'd/<&>']) await put(key, key)
    const keys = [{ Key: 'd/1' }, { Key: 'd/2', ETag: '"other"' }, { Key: 'd/absent' }, { Key: 'd/<&>' }]
    const { Deleted, Errors } = await removeAll(keys)
    expect(Deleted).toEqual([{ Key: 'd/1' }, { Key: 'd/absent' }, { Key: 'd/<&>' }])
    expect(Errors).toEqual([{ Key: 'd/2', Code: 'PreconditionFailed', Message: expect.any(String) }])
    const answer = await removeAll([{ Key: 'd/2' }, { Key: 'd/3', VersionId: 'v1' }], { Quiet: true })
    expect(answer.Deleted).toBeUndefined()
    expect(answer.Errors).toMatchObject([{ Key: 'd/3', Code: 'InvalidArgument' }])
    await expectS3Error(head('d/2'), 404, 'NotFound')
    expect(await textOf('d/3')).toBe('d/3')
  })

  it('ADD-43 a deletion may require a size and time, and changes nothing when they differ', async () => {
    await put('conditional', 'bytes')
    const { LastModified } = await head('conditional')
    const earlier = new Date(LastModified!.getTime() - 1000)
    const Key = 'conditional'
    await expectS3Error(remove(Key, { IfMatchSize: 4 }), 412, 'PreconditionFailed')
    await expectS3Error(remove(Key, { IfMatchLastModifiedTime: earlier }), 412, 'PreconditionFailed')
    const { Errors } = await removeAll([
      { Key, Size: 4 },
      { Key, LastModifiedTime: earlier },
    ])
    expect(Errors?.map(({ Code }) => Code)).toEqual(['PreconditionFailed', 'PreconditionFailed'])
    const bad = await bucket.send('DELETE', 'conditional', { headers: { 'x-amz-if-match-size': 'x' } })
    expect(bad.code).toBe('InvalidArgument')
    expect(await textOf('conditional')).toBe('bytes')
    await remove(Key, { IfMatchSize: 5, IfMatchLastModifiedTime: LastModified })
    await expectS3Error(remove(Key, { IfMatchSize: 5 }), 404, 'NoSuchKey')
  })

  it('ADD-43 DeleteObjects accepts up to a thousand keys, and refuses other bodies', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => ({ Key: `absent/${i}` }))
    expect((await removeAll(many(1000))).Deleted).toHaveLength(1000)
    await expectS3Error(removeAll(many(1001)), 400, 'MalformedXML')
    const post = (body: string) => bucket.send('POST', '?delete=', { body })
    for (const body of ['', '<Delete>', '<Other><Object><Key>a</Key></Object></Other>', '<Delete><Object/></Delete>'])
      expect(await post(body), body).toMatchObject({ status: 400, code: 'MalformedXML' })
    expect((await post('x'.repeat(5_000_000))).code).toBe('EntityTooLarge')
  })

  it('ADD-43 GetObjectAttributes reports the attributes of an object', async () => {
    await put('about', 'bytes')
    const ObjectAttributes = ['ETag' as const, 'Checksum' as const, 'ObjectSize' as const, 'StorageClass' as const]
    const asked = new GetObjectAttributesCommand({ Bucket: bucket.name, Key: 'about', ObjectAttributes })
    expect(await bucket.client.send(asked)).toMatchObject({
      ETag: `${sha256('bytes').slice(0, 32)}-1`,
      Checksum: { ChecksumSHA256: createHash('sha256').update('bytes').digest('base64'), ChecksumType: 'FULL_OBJECT' },
      ObjectSize: 5,
      StorageClass: 'STANDARD',
      LastModified: expect.any(Date),
    })
  })

  it('ADD-43 an object has the ACL and tags that clients request, and accepts no others', async () => {
    await put('about', 'bytes')
    const { client, name: Bucket } = bucket
    const key = { Bucket, Key: 'about' }
    const { Owner, Grants } = await client.send(new GetObjectAclCommand(key))
    expect(Owner).toMatchObject({ ID: Bucket })
    expect(Grants).toMatchObject([{ Grantee: { ID: Bucket, Type: 'CanonicalUser' }, Permission: 'FULL_CONTROL' }])
    expect((await client.send(new GetObjectTaggingCommand(key))).TagSet).toEqual([])
    await client.send(new PutObjectAclCommand({ ...key, ACL: 'private' }))
    const shared = new PutObjectAclCommand({ ...key, ACL: 'public-read' })
    await expectS3Error(client.send(shared), 400, 'AccessControlListNotSupported')
    const Tagging = { TagSet: [{ Key: 'a', Value: 'b' }] }
    await expectS3Error(client.send(new PutObjectTaggingCommand({ ...key, Tagging })), 501, 'NotImplemented')
    await expectS3Error(client.send(new GetObjectAclCommand({ Bucket, Key: 'absent' })), 404, 'NoSuchKey')
  })
})
