import { randomBytes } from 'node:crypto'
import { forEachDatabase } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { expectS3Error } from '../s3-gateway.ts'
import { etagOf, PART, uploadGateway } from './upload-gateway.ts'

const nightly = { tags: ['nightly'] }

forEachDatabase('checksums and refusals of S3 uploads', (database) => {
  const { instance, bucket, begin, bytesOf } = uploadGateway(database)

  it('T-98 the CRC of a file is combined from those of its parts and compared with the one sent', nightly, async () => {
    const parts = [randomBytes(PART), randomBytes(1234)] as const
    const crc = { ChecksumAlgorithm: 'CRC64NVME' }
    const single = await begin('one part', { ...crc, ChecksumType: 'FULL_OBJECT' })
    const bytes = Buffer.concat(parts)
    await single.put(1, bytes, crc)
    const { ChecksumCRC64NVME } = await single.complete([bytes])
    const upload = await begin('two', { ...crc, ChecksumType: 'FULL_OBJECT' })
    await upload.put(1, parts[0], crc)
    // Sent without its checksum, so the gateway computes it.
    await bucket.send('PUT', `two?partNumber=2&uploadId=${upload.of.UploadId}`, { body: parts[1] })
    const complete = (changes: object) => upload.complete(parts, [1, 2], changes)
    await expectS3Error(complete({ ChecksumCRC64NVME: 'AAAAAAAAAAA=' }), 400, 'BadDigest')
    await expectS3Error(complete({ ChecksumType: 'COMPOSITE' }), 400, 'InvalidRequest')
    await expectS3Error(complete({ MpuObjectSize: 1 }), 400, 'InvalidRequest')
    const facts = { ChecksumCRC64NVME, ChecksumType: 'FULL_OBJECT' }
    expect(await complete({ ...facts, MpuObjectSize: PART + 1234 })).toMatchObject(facts)
  })

  it('T-98 a part that does not match its checksum leaves nothing', nightly, async () => {
    const upload = await begin('damaged')
    for (const size of [10, PART])
      await expectS3Error(upload.put(1, randomBytes(size), { ChecksumCRC32: 'AAAAAA==' }), 400, 'BadDigest')
    expect((await upload.list()).Parts ?? []).toEqual([])
    const bytes = randomBytes(PART)
    await upload.put(1, bytes)
    await upload.complete([bytes])
  })

  it('T-98 refuses part numbers outside 1 to 10000, and uploads of another key or locker', async () => {
    const { UploadId } = (await begin('mine')).of
    const other = await instance.bucket()
    const put = (key: string, number: string, id = UploadId, to = { send: bucket.send }) =>
      to.send('PUT', `${key}?partNumber=${number}&uploadId=${id}`, { body: 'x' })
    for (const number of ['0', '10001', '1.5', ''])
      expect((await put('mine', number)).code, number).toBe('InvalidArgument')
    for (const refused of [
      await put('other', '1'),
      await put('mine', '1', `us_${'0'.repeat(32)}`),
      await put('mine', '1', 'x'.repeat(2000)),
      await put('mine', '1', UploadId, other),
      await other.send('DELETE', `mine?uploadId=${UploadId}`),
      await other.send('GET', `mine?uploadId=${UploadId}`),
    ])
      expect(refused).toMatchObject({ status: 404, code: 'NoSuchUpload' })
    const token = { 'x-upload-token': 'a'.repeat(43) }
    expect((await instance.send('GET', `/v1/upload-sessions/${UploadId}`, undefined, token)).status).toBe(401)
  })

  it('T-98 refuses lists that are out of order, unknown, too short or malformed', nightly, async () => {
    const [small, large] = [randomBytes(100), randomBytes(PART)]
    const upload = await begin('refused')
    await upload.put(1, small)
    await upload.put(2, large)
    await expectS3Error(upload.complete([small, large]), 400, 'EntityTooSmall')
    await expectS3Error(upload.complete([large, small], [2, 1]), 400, 'InvalidPartOrder')
    await expectS3Error(upload.complete([small, small], [1, 1]), 400, 'InvalidPartOrder')
    await expectS3Error(upload.complete([large]), 400, 'InvalidPart')
    await expectS3Error(upload.complete([large], [3]), 400, 'InvalidPart')
    const codeOf = async (body: string) =>
      (await bucket.send('POST', `refused?uploadId=${upload.of.UploadId}`, { body })).code
    const part = (n: string) => `<Part><PartNumber>${n}</PartNumber><ETag>x</ETag></Part>`
    const list = (parts: string) => `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`
    for (const body of ['', 'x', list(''), '<Other/>', list('<Part/>'), `<!DOCTYPE a>${list(part('1'))}`])
      expect(await codeOf(body), body).toBe('MalformedXML')
    expect(await codeOf(list(part('0')))).toBe('InvalidArgument')
    expect(await codeOf(list(part('1').repeat(10_001)))).toBe('InvalidPartOrder')
    expect(await codeOf(' '.repeat(5 * 1_048_576))).not.toBeNull()
    expect((await upload.list()).Parts).toHaveLength(2)
    await upload.complete([large], [2])
  })

  it('T-98 keys, types and metadata follow the rules for objects', async () => {
    for (const key of ['a:b', '.hidden', 'folder/']) await expectS3Error(begin(key), 400, 'InvalidArgument')
    await expectS3Error(begin('a', { Metadata: { much: 'x'.repeat(3000) } }), 400, 'MetadataTooLarge')
    const sums = { ChecksumAlgorithm: 'SHA256', ChecksumType: 'FULL_OBJECT' }
    await expectS3Error(begin('a', sums), 400, 'InvalidRequest')
  })

  it('T-98 If-None-Match and If-Match apply to the object that exists at completion', nightly, async () => {
    const bytes = randomBytes(PART)
    const upload = await begin('conditional')
    await upload.put(1, bytes)
    const complete = (condition: object) => upload.complete([bytes], [1], condition)
    await expectS3Error(complete({ IfMatch: etagOf(bytes) }), 404, 'NoSuchKey')
    await bucket.locker.put('conditional', 'there')
    await expectS3Error(complete({ IfNoneMatch: '*' }), 412, 'PreconditionFailed')
    await expectS3Error(complete({ IfMatch: etagOf(bytes) }), 412, 'PreconditionFailed')
    expect(String(await bytesOf('conditional'))).toBe('there')
    await complete({ IfMatch: etagOf(Buffer.from('there')) })
    expect((await bytesOf('conditional')).equals(bytes)).toBe(true)
  })
})
