import { randomBytes } from 'node:crypto'
import { CreateMultipartUploadCommand } from '@aws-sdk/client-s3'
import { forEachDatabase } from '@svc/devnet/databases'
import { describe, expect, it } from 'vitest'
import { expectS3Error } from '../s3-house.ts'
import { etagOf, PART, uploadHouse } from './upload-house.ts'

forEachDatabase('checksums and refusals of S3 uploads', (database) => {
  const uploads = uploadHouse(database)
  describe('checksums', () => {
    it.each(['CRC32', 'CRC32C', 'CRC64NVME'] as const)(
      'T-98 %s of the whole object is made of those of its parts, and compared with what is sent',
      { tags: ['nightly'] },
      async (ChecksumAlgorithm) => {
        const parts = [randomBytes(PART), randomBytes(1234)] as const
        const whole = await uploads.begin('one part', { ChecksumAlgorithm, ChecksumType: 'FULL_OBJECT' })
        await whole.put(1, Buffer.concat(parts), { ChecksumAlgorithm })
        const name = `Checksum${ChecksumAlgorithm}` as const
        const expected = (await whole.complete([[1, Buffer.concat(parts)]]))[name]
        const upload = await uploads.begin('two parts', { ChecksumAlgorithm, ChecksumType: 'FULL_OBJECT' })
        // Without its checksum, which the gateway computes then.
        await upload.put(1, parts[0], { ChecksumAlgorithm })
        await uploads.bucket.send('PUT', `two%20parts?partNumber=2&uploadId=${upload.of.UploadId}`, { body: parts[1] })
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

    it('T-98 a part that is not what its checksum says leaves nothing', { tags: ['nightly'] }, async () => {
      const upload = await uploads.begin('damaged')
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
      const upload = await uploads.begin('mine')
      const path = (key: string, number: string, id = upload.of.UploadId) =>
        `${key}?partNumber=${number}&uploadId=${id}`
      for (const number of ['0', '10001', '-1', '1.5', '', '99999999999999999999', 'a']) {
        expect((await uploads.bucket.send('PUT', path('mine', number), { body: 'x' })).code, number).toBe(
          'InvalidArgument',
        )
      }
      const other = await uploads.house.bucket()
      const wrong = [
        uploads.bucket.send('PUT', path('other', '1'), { body: 'x' }),
        uploads.bucket.send('PUT', path('mine', '1', `us_${'0'.repeat(32)}`), { body: 'x' }),
        uploads.bucket.send('PUT', path('mine', '1', 'x'.repeat(2000)), { body: 'x' }),
        uploads.bucket.send('PUT', path('mine', '1', 'us_or'), { body: 'x' }),
        other.send('PUT', path('mine', '1'), { body: 'x' }),
        other.send('DELETE', `mine?uploadId=${upload.of.UploadId}`),
        other.send('GET', `mine?uploadId=${upload.of.UploadId}`),
      ]
      for (const { status, code } of await Promise.all(wrong)) expect([status, code]).toEqual([404, 'NoSuchUpload'])
      const token = { 'x-upload-token': 'a'.repeat(43) }
      const session = await uploads.house.send('GET', `/v1/upload-sessions/${upload.of.UploadId}`, undefined, token)
      expect(session.status).toBe(401)
    })

    it('T-98 refuses lists that are empty, out of order, unknown, too short or malformed, and changes nothing', {
      tags: ['nightly'],
    }, async () => {
      const [small, large] = [randomBytes(100), randomBytes(PART)]
      const upload = await uploads.begin('refused')
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
      const send = (body: string) => uploads.bucket.send('POST', `refused?uploadId=${upload.of.UploadId}`, { body })
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
      const Bucket = uploads.bucket.name
      const create = (Key: string, more: object = {}) =>
        uploads.bucket.client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }))
      for (const Key of ['a:b', '.hidden', 'folder/']) await expectS3Error(create(Key), 400, 'InvalidArgument')
      await expectS3Error(create('a', { Metadata: { much: 'x'.repeat(3000) } }), 400, 'MetadataTooLarge')
      const [algorithm, type] = ['SHA256', 'FULL_OBJECT']
      await expectS3Error(create('a', { ChecksumAlgorithm: algorithm, ChecksumType: type }), 400, 'InvalidRequest')
      const { db } = uploads.house.gateway.context.database
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

    it('T-98 If-None-Match and If-Match decide about the object that is there, when the upload is completed', {
      tags: ['nightly'],
    }, async () => {
      const bytes = randomBytes(PART)
      const upload = await uploads.begin('conditional')
      await upload.put(1, bytes)
      await expectS3Error(upload.complete([[1, bytes]], { IfMatch: etagOf(bytes) }), 404, 'NoSuchKey')
      await uploads.bucket.locker.put('conditional', 'there')
      await expectS3Error(upload.complete([[1, bytes]], { IfNoneMatch: '*' }), 412, 'PreconditionFailed')
      await expectS3Error(upload.complete([[1, bytes]], { IfMatch: etagOf(bytes) }), 412, 'PreconditionFailed')
      expect(String(await uploads.bytesOf('conditional'))).toBe('there')
      await upload.complete([[1, bytes]], { IfMatch: etagOf(Buffer.from('there')) })
      expect((await uploads.bytesOf('conditional')).equals(bytes)).toBe(true)
    })
  })
})
