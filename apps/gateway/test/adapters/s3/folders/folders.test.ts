import { DeleteObjectsCommand, GetObjectAclCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { MAX_FOLDERS } from '../../../../src/adapters/s3/folders/folders.ts'
import { lockerRow, storeFile } from '../../../files/files.ts'
import { expectS3Error, objectsOf, openS3Gateway } from '../s3-gateway.ts'

const NO_BYTES = '"e3b0c44298fc1c149afbf4c8996fb924-1"'

forEachDatabase('folders of S3', (database) => {
  const instance = forAllTests(() => openS3Gateway({ DATABASE_URL: database.url }))
  const bucket = forEachTest(() => instance.bucket())
  const objects = objectsOf(bucket)
  const { copy, get, head, remove } = objects
  const put = (Key: string, more: object = {}) => objects.put(Key, '', { ContentLength: 0, ...more })
  const list = async (input: object = {}) => {
    const command = new ListObjectsV2Command({ Bucket: bucket.name, ...input })
    const { Contents = [], CommonPrefixes = [] } = await bucket.client.send(command)
    return [...Contents.map(({ Key }) => Key), ...CommonPrefixes.map(({ Prefix }) => `prefix ${Prefix}`)]
  }

  it('ADD-44 stores, reads, lists and deletes a folder with its metadata', async () => {
    const Metadata = { mode: '16877', mtime: '1700000000' }
    expect(await put('dir/', { Metadata, ContentType: 'application/x-directory' })).toMatchObject({ ETag: NO_BYTES })
    const facts = { Metadata, ContentType: 'application/x-directory', ContentLength: 0, ETag: NO_BYTES }
    expect(await head('dir/')).toMatchObject(facts)
    const { Body, ...rest } = await get('dir/')
    expect(rest).toMatchObject(facts)
    expect(await Body!.transformToString()).toBe('')
    const Bucket = bucket.name
    expect(await bucket.client.send(new GetObjectAclCommand({ Bucket, Key: 'dir/' }))).toHaveProperty('Grants')
    await storeFile(instance, bucket.locker, 'dir/file', 'x')
    expect(await list({ Prefix: 'dir' })).toEqual(['dir/', 'dir/file'])
    expect(await list({ Prefix: 'dir', Delimiter: '/' })).toEqual(['prefix dir/'])
    expect(await list({ Prefix: 'dir/', Delimiter: '/' })).toEqual(['dir/', 'dir/file'])
    const { LastModified, ChecksumSHA256 } = await head('dir/', { ChecksumMode: 'ENABLED' })
    expect(ChecksumSHA256).toBe('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
    const { Contents } = await bucket.client.send(new ListObjectsV2Command({ Bucket, Prefix: 'dir/', MaxKeys: 1 }))
    expect(Contents).toMatchObject([
      { Key: 'dir/', Size: 0, ETag: NO_BYTES, LastModified, ChecksumAlgorithm: ['SHA256'] },
    ])
    await remove('dir/')
    await remove('dir/')
    await expectS3Error(head('dir/'), 404, 'NotFound')
    expect(await list({ Prefix: 'dir' })).toEqual(['dir/file'])
  })

  it('ADD-44 a folder is not a file and changes no manifest', async () => {
    const before = await lockerRow(instance, bucket.locker)
    await put('quiet/')
    await put('quiet/', { Metadata: { a: 'b' } })
    expect((await head('quiet/')).Metadata).toEqual({ a: 'b' })
    expect(await lockerRow(instance, bucket.locker)).toEqual(before)
    const { body } = await bucket.locker.call<{ files: { filename: string }[] }>(['locker:list'], 'GET', '/files')
    expect(body.files.map(({ filename }) => filename)).not.toContain('quiet/')
  })

  it('ADD-44 copies a folder, with its own or with new metadata', async () => {
    await put('from/', { Metadata: { a: '1' }, ContentType: 'application/x-directory' })
    const { CopyObjectResult } = await copy('from/', 'to/')
    expect(CopyObjectResult).toMatchObject({ ETag: NO_BYTES, LastModified: expect.any(Date) })
    expect(await head('to/')).toMatchObject({ Metadata: { a: '1' }, ContentType: 'application/x-directory' })
    await copy('to/', 'to/', { MetadataDirective: 'REPLACE', Metadata: { b: '2' } })
    expect((await head('to/')).Metadata).toEqual({ b: '2' })
    await expectS3Error(copy('to/', 'to/'), 400, 'InvalidRequest')
    await expectS3Error(copy('nowhere/', 'to/'), 404, 'NoSuchKey')
    await expectS3Error(copy('from/', 'to/', { CopySourceIfMatch: '"other"' }), 412, 'PreconditionFailed')
    await expectS3Error(copy('from/', 'file'), 404, 'NoSuchKey')
    await storeFile(instance, bucket.locker, 'full', 'bytes')
    await expectS3Error(copy('full', 'to/'), 400, 'InvalidArgument')
  })

  it('ADD-44 deletes folders together with files', async () => {
    await put('many/')
    await storeFile(instance, bucket.locker, 'many/1', 'x')
    const Objects = [{ Key: 'many/' }, { Key: 'many/1' }, { Key: 'many/none/' }]
    const all = new DeleteObjectsCommand({ Bucket: bucket.name, Delete: { Objects } })
    const { Deleted, Errors } = await bucket.client.send(all)
    expect(Deleted).toEqual(Objects)
    expect(Errors).toBeUndefined()
    expect(await list({ Prefix: 'many' })).toEqual([])
  })

  it('ADD-44 applies the conditions of requests to folders', async () => {
    await put('once/', { IfNoneMatch: '*' })
    await expectS3Error(put('once/', { IfNoneMatch: '*' }), 412, 'PreconditionFailed')
    await expectS3Error(put('never/', { IfMatch: NO_BYTES }), 404, 'NoSuchKey')
    await put('once/', { IfMatch: NO_BYTES })
    const conditional = (headers: Record<string, string>) => bucket.send('GET', 'once/', { headers })
    expect(await conditional({ 'if-none-match': NO_BYTES })).toMatchObject({ status: 304, text: '' })
    expect(await conditional({ 'if-match': '"other"' })).toMatchObject({ status: 412, code: 'PreconditionFailed' })
  })

  it('T-10 a folder has no bytes, and its name is valid for files below it', async () => {
    for (const Body of ['x', Buffer.alloc(1_000_000)]) {
      const refused = await bucket.send('PUT', 'full/', { body: Body })
      expect(refused).toMatchObject({ status: 400, code: 'InvalidArgument' })
      expect(refused.text).toContain('<Hint>')
    }
    for (const key of ['a//', '%2F', 'a:b/', `${'x'.repeat(512)}/`]) {
      const answer = await bucket.send('PUT', key)
      expect(answer, key).toMatchObject({ status: 400, code: 'InvalidArgument' })
    }
    await expectS3Error(put('big/', { Metadata: { a: 'x'.repeat(3000) } }), 400, 'MetadataTooLarge')
    expect(await list({ Prefix: 'a' })).toEqual([])
  })

  it('T-10 only keys that may write to a folder change it', async () => {
    await put('kept/')
    const as = async (scope: object) => objectsOf({ name: bucket.name, client: await bucket.clientWith({}, scope) })
    const [reader, scoped] = [await as({ access: 'read' }), await as({ prefix: 'mine/' })]
    await scoped.put('mine/', '', { ContentLength: 0 })
    const denied = (refused: Promise<unknown>) => expectS3Error(refused, 403, 'AccessDenied')
    await denied(scoped.put('theirs/', '', { ContentLength: 0 }))
    await denied(scoped.copy('kept/', 'mine/copy/'))
    await denied(reader.put('kept/', '', { ContentLength: 0 }))
    await denied(reader.remove('kept/'))
    expect(await head('kept/')).toHaveProperty('ETag')
  })

  it('T-10 a locker has a limited number of folders', async () => {
    const { db } = instance.gateway.context.database
    await sql`insert into s3_folders (locker_id, folder, content_type, created_at)
      with recursive counted(i) as (select 1 union all select i + 1 from counted where i < ${sql.lit(MAX_FOLDERS - 1)})
      select ${bucket.name}, 'f' || i || '/', 'text/plain', 0 from counted`.execute(writable(db))
    const outcomes = await Promise.allSettled(['x/', 'y/', 'z/'].map((key) => put(key)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1)
    await expectS3Error(put('one more/'), 403, 'QuotaExceeded')
    await put('f1/')
  })
})
