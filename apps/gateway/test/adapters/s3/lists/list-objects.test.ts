import {
  ListObjectsCommand,
  type ListObjectsCommandInput,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
  ListObjectVersionsCommand,
} from '@aws-sdk/client-s3'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expect, it } from 'vitest'
import { storeFile } from '../../../files/files.ts'
import { expectS3Error, objectsOf, openS3Gateway } from '../s3-gateway.ts'

const byBytes = (a = '', b = '') => Buffer.compare(Buffer.from(a), Buffer.from(b))
const KEYS = ['a+b/c d', 'a/1.txt', 'a/2&3.txt', 'a/b/<4>', 'a%2Fb', 'é/ü', '\u{10ffff}', '\u{1f600}/x'].toSorted(
  byBytes,
)

forEachDatabase('lists of S3', (database) => {
  const instance = forAllTests(() => openS3Gateway({ DATABASE_URL: database.url }))
  const bucket = forAllTests(async () => {
    const made = await instance.bucket()
    for (const key of KEYS) await storeFile(instance, made.locker, key, key)
    await made.locker.call(['locker:write'], 'POST', '/files', { filename: 'a/waits for bytes' })
    return made
  })

  const v1 = (input: Partial<ListObjectsCommandInput> = {}) =>
    bucket.client.send(new ListObjectsCommand({ Bucket: bucket.name, ...input }))
  const v2 = (input: Partial<ListObjectsV2CommandInput> = {}, { client, name } = bucket) =>
    client.send(new ListObjectsV2Command({ Bucket: name, ...input }))
  const keysOf = ({ Contents = [] }: Pick<ListObjectsV2CommandOutput, 'Contents'>) => Contents.map(({ Key }) => Key)
  const prefixesOf = ({ CommonPrefixes = [] }: Pick<ListObjectsV2CommandOutput, 'CommonPrefixes'>) =>
    CommonPrefixes.map(({ Prefix }) => Prefix)

  it('ADD-44 ListObjectsV2 lists every file that has bytes, with its facts', async () => {
    const page = await v2()
    expect(keysOf(page)).toEqual(KEYS)
    expect(page).toMatchObject({ Name: bucket.name, Prefix: '', KeyCount: 8, MaxKeys: 1000, IsTruncated: false })
    expect(page).not.toHaveProperty('NextContinuationToken')
    expect(page).not.toHaveProperty('Delimiter')
    const [first] = page.Contents!
    expect(first).toEqual({
      Key: KEYS[0],
      Size: KEYS[0]!.length,
      ETag: expect.stringMatching(/^"[0-9a-f]{32}-1"$/),
      LastModified: new Date(Math.floor(instance.clock.now() / 1000) * 1000),
      StorageClass: 'STANDARD',
      ChecksumAlgorithm: ['SHA256'],
      ChecksumType: 'FULL_OBJECT',
    })
    const owned = await v2({ FetchOwner: true, MaxKeys: 1 })
    expect(owned.Contents![0]!.Owner).toEqual({ ID: bucket.name, DisplayName: bucket.name })
  })

  it('ADD-44 ListObjectsV2 pages by token, and counts common prefixes', async () => {
    const found: unknown[] = []
    for (let token: string | undefined; ; ) {
      const page = await v2({ Delimiter: '/', MaxKeys: 2, ...(token && { ContinuationToken: token }) })
      const entries = [...keysOf(page), ...prefixesOf(page)].toSorted(byBytes)
      expect(page.KeyCount).toBe(entries.length)
      found.push(...entries)
      token = page.NextContinuationToken
      expect(page.IsTruncated).toBe(token !== undefined)
      if (token === undefined) break
    }
    expect(found).toEqual(['a%2Fb', 'a+b/', 'a/', 'é/', '\u{1f600}/', '\u{10ffff}'])
  })

  it('ADD-44 ListObjectsV2 starts after a key, unless there is a token', async () => {
    expect(keysOf(await v2({ StartAfter: 'a/1.txt', Prefix: 'a/' }))).toEqual(['a/2&3.txt', 'a/b/<4>'])
    const { NextContinuationToken } = await v2({ MaxKeys: 1 })
    const page = await v2({ StartAfter: 'z', MaxKeys: 1, ContinuationToken: NextContinuationToken! })
    expect(keysOf(page)).toEqual([KEYS[1]])
    expect(page.StartAfter).toBe('z')
    const first = await v2({ ContinuationToken: '', MaxKeys: 1 })
    expect([first.ContinuationToken, keysOf(first)]).toEqual(['', [KEYS[0]]])
  })

  it('ADD-44 ListObjects has NextMarker only with a delimiter', async () => {
    const first = await v1({ Delimiter: '/', MaxKeys: 3 })
    expect(first).toMatchObject({ IsTruncated: true, NextMarker: 'a/', Marker: '', Delimiter: '/' })
    const second = await v1({ Delimiter: '/', MaxKeys: 3, Marker: 'a/' })
    expect([...prefixesOf(second), ...keysOf(second)]).toEqual(['é/', '\u{1f600}/', '\u{10ffff}'])
    expect(second).not.toHaveProperty('NextMarker')
    const plain = await v1({ MaxKeys: 3 })
    expect(plain).toMatchObject({ IsTruncated: true })
    expect(plain).not.toHaveProperty('NextMarker')
    expect(plain.Contents![0]!.Owner?.ID).toBe(bucket.name)
  })

  it('ADD-44 encodes keys when asked to', async () => {
    const page = await v1({ EncodingType: 'url', Delimiter: '/', Prefix: 'a', Marker: 'a ' })
    expect(page).toMatchObject({ EncodingType: 'url', Prefix: 'a', Marker: 'a%20', Delimiter: '/' })
    expect(keysOf(page)).toEqual(['a%252Fb'])
    expect(prefixesOf(page)).toEqual(['a%2Bb/', 'a/'])
    expect(keysOf(await v2({ EncodingType: 'url', Prefix: 'a+b/' }))).toEqual(['a%2Bb/c%20d'])
  })

  it('ADD-44 ListObjectVersions has the one version of each key', async () => {
    const list = (input: object) => bucket.client.send(new ListObjectVersionsCommand({ Bucket: bucket.name, ...input }))
    const first = await list({ MaxKeys: 1, Prefix: 'a/' })
    expect(first.Versions).toMatchObject([{ Key: 'a/1.txt', VersionId: 'null', IsLatest: true, Size: 7 }])
    expect(first).toMatchObject({ IsTruncated: true, NextKeyMarker: 'a/1.txt', NextVersionIdMarker: 'null' })
    const second = await list({ Prefix: 'a/', Delimiter: '/', KeyMarker: 'a/1.txt', VersionIdMarker: 'null' })
    expect(second.Versions?.map(({ Key }) => Key)).toEqual(['a/2&3.txt'])
    expect(prefixesOf(second)).toEqual(['a/b/'])
    await expectS3Error(list({ VersionIdMarker: 'null' }), 400, 'InvalidArgument')
  })

  it('ADD-44 max-keys starts at 0, and a page has at most a thousand entries', async () => {
    expect(await v2({ MaxKeys: 0 })).toMatchObject({ KeyCount: 0, IsTruncated: false, MaxKeys: 0 })
    expect(await v2({ MaxKeys: 5000 })).toMatchObject({ KeyCount: 8, MaxKeys: 1000 })
  })

  it.each([
    'max-keys=x',
    'max-keys=-1',
    'encoding-type=base64',
    'list-type=3',
    'prefix=%00',
    'key-marker=%00&versions=',
    'continuation-token=%2F&list-type=2',
    'continuation-token=1&list-type=2',
    'continuation-token=1_w&list-type=2',
    'continuation-token=2YQ&list-type=2',
  ])('T-10 refuses a list with %s', async (query) => {
    expect(await bucket.send('GET', `?${query}`)).toMatchObject({ status: 400, code: 'InvalidArgument' })
  })

  it('T-10 a key for a part of the bucket lists only that part', async () => {
    const client = await bucket.clientWith({}, { prefix: 'a/', access: 'read' })
    const list = (input: object) => client.send(new ListObjectsV2Command({ Bucket: bucket.name, ...input }))
    expect(keysOf(await list({ Prefix: 'a/b' }))).toEqual(['a/b/<4>'])
    expect(keysOf(await list({ Prefix: 'a/', StartAfter: '' }))).toEqual(['a/1.txt', 'a/2&3.txt', 'a/b/<4>'])
    for (const Prefix of [undefined, '', 'a', 'b/', 'A/'])
      await expectS3Error(list({ Prefix, StartAfter: 'a/' }), 403, 'AccessDenied')
    const wholeBucket = { Bucket: bucket.name }
    await expectS3Error(client.send(new ListObjectsCommand(wholeBucket)), 403, 'AccessDenied')
    await expectS3Error(client.send(new ListObjectVersionsCommand(wholeBucket)), 403, 'AccessDenied')
  })

  it('ADD-44 lists a file with the ETag that its reads and writes return, confirmed or not', async () => {
    const other = await instance.bucket()
    const { head, put } = objectsOf(other)
    await storeFile(instance, other.locker, 'unconfirmed', 'bytes', { isConfirmed: false })
    const [read, written] = [await head('unconfirmed'), await put('new', 'x')]
    const { Contents } = await v2({}, other)
    expect(Contents).toMatchObject([
      { Key: 'new', ETag: written.ETag, Size: 1 },
      { Key: 'unconfirmed', ETag: read.ETag, Size: 5 },
    ])
    expect(Contents![1]).not.toHaveProperty('ChecksumAlgorithm')
  })
})
