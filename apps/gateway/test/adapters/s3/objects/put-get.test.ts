import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import { expect, it, onTestFinished } from 'vitest'
import { readObjectHeaders } from '../../../../src/adapters/s3/objects/object-headers.ts'
import { insertDirectUpload, insertObject } from '../../../../src/files/object-store.ts'
import { lockerRow } from '../../../files/files.ts'
import { rowOf, sha256 } from '../../http/transfers.ts'
import { expectS3Error, objectsOf, openS3Gateway } from '../s3-gateway.ts'

const etagOf = (bytes: Uint8Array | string) => `"${sha256(bytes).slice(0, 32)}-1"`
const base64Sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('base64')

forEachDatabase('objects of S3', (database) => {
  const instance = forAllTests(() => openS3Gateway({ DATABASE_URL: database.url }))
  const bucket = forEachTest(() => instance.bucket())
  const { put, get, head, remove, copy, bytesOf } = objectsOf(bucket)

  it.each([
    ['a buffer', 70_000],
    ['an empty stream', 0],
    ['a stream', 3_000_001],
  ])('T-93 stores %s as a confirmed file of the locker, with its ETag and checksum', async (kind, length) => {
    const bytes = randomBytes(length)
    const pieces = length === 0 ? [] : [bytes.subarray(0, length >> 1), bytes.subarray(length >> 1)]
    const body = kind === 'a buffer' ? bytes : Readable.from(pieces)
    const answer = await put('a/b.bin', body, { ContentType: 'image/png', ContentLength: length })
    const sums = { ChecksumType: 'FULL_OBJECT', ChecksumCRC32: expect.stringMatching(/^.{8}$/) }
    expect(answer).toMatchObject({ ETag: etagOf(bytes), ...sums })
    const hashed = { content_hash: `sha256:${sha256(bytes)}`, hash_recorded_at: expect.any(String) }
    const row = { content_type: 'image/png', size_bytes: length, metadata: null, ...hashed }
    expect(await rowOf(instance, bucket.locker, 'a/b.bin')).toMatchObject(row)
    expect(await bytesOf('a/b.bin')).toEqual(bytes)
  })

  it('T-93 the ETag is the MD5 that the client sent, until other bytes are stored', async () => {
    const md5 = (bytes: string) => createHash('md5').update(bytes)
    const ContentMD5 = md5('bytes').digest('base64')
    const ETag = `"${md5('bytes').digest('hex')}"`
    const sent = { ContentMD5, Metadata: { a: '1' } }
    expect(await put('sum', 'bytes', sent)).toMatchObject({ ETag })
    expect(await head('sum')).toMatchObject({ ETag, Metadata: { a: '1' } })
    expect((await bucket.send('GET', 'sum')).headers.get('content-md5')).toBeNull()
    const { Contents } = await bucket.client.send(new ListObjectsV2Command({ Bucket: bucket.name, Prefix: 'sum' }))
    expect(Contents).toMatchObject([{ Key: 'sum', ETag }])
    expect((await get('sum', { IfMatch: ETag })).ETag).toBe(ETag)
    await expectS3Error(put('sum', 'x', { IfMatch: etagOf('bytes') }), 412, 'PreconditionFailed')
    await expectS3Error(put('sum', 'other', { ContentMD5 }), 400, 'BadDigest')
    await expectS3Error(put('sum', 'other', { ContentMD5: 'AAAA' }), 400, 'InvalidDigest')
    const { CopyObjectResult } = await copy('sum', 'copy')
    expect(CopyObjectResult).toMatchObject({ ETag })
    await copy('sum', 'sum', { MetadataDirective: 'REPLACE', Metadata: { b: '2' } })
    expect(await head('sum')).toMatchObject({ ETag, Metadata: { b: '2' } })
    await put('sum', 'bytes')
    expect(await head('sum')).toMatchObject({ ETag: etagOf('bytes'), Metadata: {} })
    await bucket.locker.put('copy', 'other')
    expect(await head('copy')).toMatchObject({ ETag: etagOf('other') })
  })

  it('T-93 stores metadata and headers, and a replacement has none of them', async () => {
    const sent = {
      Metadata: { mtime: '1700000000', 'x-long_name.1': 'a b  c' },
      CacheControl: 'max-age=5',
      ContentDisposition: 'attachment; filename="x"',
      ContentEncoding: 'gzip',
      ContentLanguage: 'de',
      Expires: new Date('2030-01-02T03:04:05Z'),
    }
    await put('kept', Readable.from([Buffer.from('bytes')]), { ...sent, ContentLength: 5 })
    expect(await head('kept')).toMatchObject({ ...sent, ContentType: 'application/octet-stream', ContentLength: 5 })
    await bucket.locker.put('kept', 'other')
    const after = await head('kept')
    expect(after).toMatchObject({ Metadata: {}, ContentType: 'text/plain', ETag: etagOf('other') })
    expect(after).not.toHaveProperty('CacheControl')
    expect(after).not.toHaveProperty('ContentEncoding')
  })

  it('T-93 answers binary/octet-stream when no type was sent, and refuses an invalid type', async () => {
    const { status } = await bucket.send('PUT', 'untyped', { body: new Uint8Array([1]) })
    expect(status).toBe(200)
    expect((await head('untyped')).ContentType).toBe('binary/octet-stream')
    await expectS3Error(put('bad-type', 'x', { ContentType: 'no type' }), 400, 'InvalidArgument')
  })

  it('T-93 refuses metadata of more than 2 kB, and the file stays unchanged', async () => {
    await put('meta', 'before', { Metadata: { a: 'x'.repeat(2047) } })
    await expectS3Error(put('meta', 'after', { Metadata: { a: 'x'.repeat(2048) } }), 400, 'MetadataTooLarge')
    expect((await bytesOf('meta')).toString()).toBe('before')
  })

  it('T-93 refuses wrong bytes and changes nothing', async () => {
    await put('checked', 'before')
    const sent = (payload: string) => bucket.send('PUT', 'checked', { body: 'bytes', payload })
    expect(await sent(sha256('other'))).toMatchObject({ status: 400, code: 'XAmzContentSHA256Mismatch' })
    expect((await bytesOf('checked')).toString()).toBe('before')
    expect((await sent(sha256('bytes'))).headers.get('etag')).toBe(etagOf('bytes'))
    expect((await bytesOf('checked')).toString()).toBe('bytes')
  })

  it('T-93 evaluates If-None-Match and If-Match, even for concurrent writes', async () => {
    await put('once', 'first', { IfNoneMatch: '*' })
    await expectS3Error(put('once', 'second', { IfNoneMatch: '*' }), 412, 'PreconditionFailed')
    await expectS3Error(put('once', 'second', { IfMatch: etagOf('other') }), 412, 'PreconditionFailed')
    await expectS3Error(put('never', 'x', { IfMatch: '*' }), 404, 'NoSuchKey')
    await expectS3Error(put('once', 'x', { IfNoneMatch: `"abc", ${etagOf('first')}` }), 412, 'PreconditionFailed')
    await put('once', 'first', { IfNoneMatch: '"abc"' })
    await put('once', 'second', { IfMatch: etagOf('first') })
    expect((await bytesOf('once')).toString()).toBe('second')
    const writers = Array.from({ length: 8 }, (_, i) => put('race', `writer ${i}`, { IfNoneMatch: '*' }))
    const outcomes = (await Promise.allSettled(writers)).map(({ status }) => status)
    expect(outcomes.filter((status) => status === 'fulfilled')).toHaveLength(1)
  })

  it('T-17 If-None-Match detects bytes that arrived at the provider but were not read yet', async () => {
    const { database, providers, now } = instance.gateway.context
    const { locker } = bucket
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'arrived' })
    const { provider, locker_id } = await lockerRow(instance, locker)
    const object_id = randomBytes(16).toString('hex')
    const about = { contentType: 'text/plain', size: null }
    await providers.named(provider).write(object_id, Readable.from([Buffer.from('theirs')]), about)
    const since = Math.floor(now() / 1000)
    const minted = { minted_by: locker.owner.identity, minted_epoch: 0 }
    const promised = { content_type: 'text/plain', expected_hash: null, promised_bytes: 6, look_at: since + 600 }
    await writable(database.db)
      .transaction()
      .execute(async (tx) => {
        await insertObject(tx, { object_id, provider, state: 'writing', since, locker_id: null })
        await insertDirectUpload(tx, { object_id, locker_id, filename: 'arrived', ...promised, ...minted })
      })
    await expectS3Error(put('arrived', 'mine', { IfNoneMatch: '*' }), 412, 'PreconditionFailed')
    expect((await bytesOf('arrived')).toString()).toBe('theirs')
  })

  it('T-93 refuses unsupported headers, and ignores none that a client relies on', async () => {
    for (const more of [
      { ServerSideEncryption: 'AES256' },
      { SSECustomerAlgorithm: 'AES256', SSECustomerKey: 'k'.repeat(32), SSECustomerKeyMD5: 'x' },
      { Tagging: 'a=b' },
      { StorageClass: 'GLACIER' },
      { ObjectLockLegalHoldStatus: 'ON' },
      { WebsiteRedirectLocation: '/x' },
    ]) {
      await expectS3Error(put('refused', 'x', more), 501, 'NotImplemented')
    }
    for (const more of [{ ACL: 'public-read' }, { ACL: 'bucket-owner-read' }, { GrantRead: 'id=x' }] as const)
      await expectS3Error(put('refused', 'x', more), 400, 'AccessControlListNotSupported')
    await put('accepted', 'x', { ACL: 'private', StorageClass: 'STANDARD' })
    await put('accepted', 'x', { ACL: 'bucket-owner-full-control' })
    await expectS3Error(head('refused'), 404, 'NotFound')
  })

  it('T-93 reports the facts of an object and of its only part', async () => {
    await put('read', '0123456789', { ContentType: 'text/plain', Metadata: { a: 'b' } })
    const ETag = etagOf('0123456789')
    const facts = { AcceptRanges: 'bytes', ETag, LastModified: expect.any(Date), Metadata: { a: 'b' } }
    expect(await head('read')).toMatchObject({ ...facts, ContentLength: 10 })
    const part = await get('read', { PartNumber: 1 })
    expect(part).toMatchObject({ ...facts, ContentRange: 'bytes 0-9/10', PartsCount: 1 })
    expect(await part.Body?.transformToString()).toBe('0123456789')
    await expectS3Error(get('read', { PartNumber: 2 }), 416, 'InvalidRange')
    await expectS3Error(head('absent'), 404, 'NotFound')
    await expectS3Error(get('absent'), 404, 'NoSuchKey')
  })

  it('T-93 answers ranges, and the SHA-256 of the whole file on request', async () => {
    await put('read', '0123456789')
    const sum = { ChecksumMode: 'ENABLED' }
    const checksum = { ChecksumSHA256: base64Sha256('0123456789'), ChecksumType: 'FULL_OBJECT' }
    expect(await head('read', sum)).toMatchObject(checksum)
    const ranged = await get('read', { ...sum, Range: 'bytes=2-4' })
    expect([await ranged.Body?.transformToString(), ranged.ChecksumSHA256]).toEqual(['234', undefined])
    await expectS3Error(get('read', { Range: 'bytes=10-' }), 416, 'InvalidRange')
    const headOf = (range: string) => bucket.send('HEAD', 'read', { headers: { range } })
    const { status, headers } = await headOf('bytes=2-4')
    expect([status, headers.get('content-range'), headers.get('content-length')]).toEqual([206, 'bytes 2-4/10', '3'])
    expect((await headOf('bytes=10-')).status).toBe(416)
  })

  it('T-93 evaluates conditions, with and without quotes around tags', async () => {
    await put('conditions', 'x')
    const tag = etagOf('x')
    const { LastModified } = await head('conditions', { IfMatch: tag.slice(1, -1) })
    for (const IfNoneMatch of [tag, tag.slice(1, -1), '*'])
      await expect(head('conditions', { IfNoneMatch })).rejects.toMatchObject({ $metadata: { httpStatusCode: 304 } })
    const IfUnmodifiedSince = new Date(LastModified!.getTime() - 1000)
    for (const condition of [{ IfMatch: '"other"' }, { IfUnmodifiedSince }])
      await expectS3Error(get('conditions', condition), 412, 'PreconditionFailed')
  })

  it('T-93 reads files that came through another protocol, even before they are confirmed', async () => {
    await bucket.locker.put('by-url', 'bytes', { confirm: false })
    const before = await head('by-url')
    expect(before.ETag).toMatch(/^"[0-9a-f]{32}-1"$/)
    expect((await bytesOf('by-url', { IfMatch: before.ETag })).toString()).toBe('bytes')
  })

  it('T-93 counts the bytes that it sends', async () => {
    await put('egress', Buffer.alloc(5000))
    await bytesOf('egress', { Range: 'bytes=0-2999' })
    await instance.gateway.context.egress.save()
    const rows = instance.gateway.context.database.db.selectFrom('locker_egress').select('bytes')
    const row = await rows.where('locker_id', '=', bucket.name).executeTakeFirst()
    expect(Number(row?.bytes)).toBe(3000)
  })

  it('T-93 presigned URLs read and write without other headers, until they expire', async () => {
    const presigned = (command: PutObjectCommand | GetObjectCommand, client = bucket.client) =>
      getSignedUrl(client, command, { expiresIn: 60, signingDate: new Date(instance.clock.now()) })
    const signed = { Bucket: bucket.name, Key: 'signed' }
    const bare = await bucket.clientWith({ requestChecksumCalculation: 'WHEN_REQUIRED' })
    const putUrl = await presigned(new PutObjectCommand({ ...signed, Metadata: { a: 'b' } }), bare)
    const written = await fetch(putUrl, { method: 'PUT', body: 'by url' })
    expect([written.status, await written.text()]).toEqual([200, ''])
    const answers = { ResponseContentType: 'text/html', ResponseContentDisposition: 'attachment; filename="ü"' }
    const getUrl = await presigned(new GetObjectCommand({ ...signed, ...answers }))
    const read = await fetch(getUrl)
    expect(await read.text()).toBe('by url')
    expect(Object.fromEntries(read.headers)).toMatchObject({
      'content-type': 'text/html',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'x-amz-meta-a': 'b',
    })
    const changed = await fetch(getUrl.replace('text%2Fhtml', 'text%2Fplain'))
    expect([changed.status, await changed.text()]).toEqual([403, expect.stringContaining('SignatureDoesNotMatch')])
    instance.clock.advance(61)
    const late = await fetch(getUrl)
    expect([late.status, await late.text()]).toEqual([403, expect.stringContaining('Request has expired')])
  })

  it('T-07 T-93 no cache stores the response to a presigned URL, unless the URL itself requests it', async () => {
    await put('public', 'x', { CacheControl: 'public, max-age=31536000', Expires: new Date('2030-01-02T03:04:05Z') })
    const named = { Bucket: bucket.name, Key: 'public' }
    const at = { signingDate: new Date(instance.clock.now()) }
    const signed = (command: GetObjectCommand | HeadObjectCommand) => getSignedUrl(bucket.client, command, at)
    const policyOf = async (url: Promise<string>, init: RequestInit = {}) => {
      const { status, headers } = await fetch(await url, init)
      return [status, headers.get('cache-control'), headers.get('referrer-policy')]
    }
    const read = signed(new GetObjectCommand(named))
    const policy = ['private, no-store', 'no-referrer']
    const tag = etagOf('x')
    expect(await policyOf(read)).toEqual([200, ...policy])
    expect(await policyOf(read, { headers: { range: 'bytes=0-0' } })).toEqual([206, ...policy])
    expect(await policyOf(read, { headers: { 'if-none-match': tag } })).toEqual([304, ...policy])
    expect(await policyOf(signed(new HeadObjectCommand(named)), { method: 'HEAD' })).toEqual([200, ...policy])
    const list = getSignedUrl(bucket.client, new ListObjectsV2Command({ Bucket: bucket.name }), at)
    expect(await policyOf(list)).toEqual([200, ...policy])
    const asked = signed(new GetObjectCommand({ ...named, ResponseCacheControl: 'private, max-age=60' }))
    expect(await policyOf(asked)).toEqual([200, 'private, max-age=60', 'no-referrer'])
    expect((await head('public')).CacheControl).toBe('public, max-age=31536000')
  })

  it('T-93 DeleteObject removes a file, and succeeds when there is none', async () => {
    await put('gone', 'x')
    await expectS3Error(remove('gone', { IfMatch: '"x"' }), 412, 'PreconditionFailed')
    for (let i = 0; i < 2; i++) expect((await remove('gone')).$metadata.httpStatusCode).toBe(204)
    await expectS3Error(get('gone'), 404, 'NoSuchKey')
  })
})

/** Every character that a query can carry but a header cannot, and some others. */
const CODES = [...Array(0x180).keys(), 0x2028, 0xfeff, 0x10000]
const canBeInHeader = (code: number) => code === 9 || (code >= 0x20 && code !== 0x7f && code <= 0xff)

it('T-30 metadata that a header cannot carry is refused, in names and values, and the rest is stored unchanged', () => {
  for (const code of CODES) {
    const value = `a${String.fromCodePoint(code)}b`
    const read = () => readObjectHeaders({ 'x-amz-meta-x': value }).metadata
    if (canBeInHeader(code)) expect(JSON.parse(read() as string)).toEqual({ 'x-amz-meta-x': value })
    else expect(read, `${code}`).toThrow('that a header cannot carry')
    if (!/[\w!#$%&'*+.^`|~-]/.test(String.fromCodePoint(code)))
      expect(() => readObjectHeaders({ [`x-amz-meta-${value}`]: 'x' }), `${code}`).toThrow()
  }
  expect(() => readObjectHeaders({ 'x-amz-meta-': 'x' })).toThrow()
  expect(readObjectHeaders({ 'x-amz-meta-__proto__': 'x' }).metadata).toBe('{"x-amz-meta-__proto__":"x"}')
})

it('T-30 a stored or requested header value injects no header and is returned byte for byte', async () => {
  const instance = await openS3Gateway()
  onTestFinished(instance.close)
  const bucket = await instance.bucket()
  const stored = {
    'x-amz-meta-a': '<b>"\\; =cmd()',
    'cache-control': `a, b="c"`,
    'content-type': 'text/html; x="a\\"; b=c"',
  }
  const put = await bucket.send('PUT', 'kept', { headers: stored, body: 'x' })
  expect(put.status, put.text).toBe(200)
  const { headers } = await bucket.send('HEAD', 'kept')
  expect(Object.fromEntries(headers)).toMatchObject(stored)
  for (const name of ['cache-control', 'disposition', 'encoding', 'language', 'type', 'expires']) {
    const header = ['cache-control', 'expires'].includes(name) ? name : `content-${name}`
    for (const bad of ['a%0D%0Ax-evil%3A%201', '%00', '%7F'])
      expect((await bucket.send('GET', `kept?response-${header}=${bad}`)).code, header).toBe('InvalidArgument')
  }
})
