import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { forEachDatabase } from '@svc/devnet/databases'
import type { ObjectParts } from '@svc/storage/provider'
import { expect, it } from 'vitest'
import { sweepSessions } from '../../../src/transfers/sessions/close-session.ts'
import { createSessionFinalizer } from '../../../src/transfers/sessions/finalize-session.ts'
import { ed25519Identity } from '../../auth/lockers.ts'
import { askCredentials, askKey, done, revokeKey } from '../credentials/credentials-house.ts'
import { expectS3Error } from '../s3-house.ts'
import { PART, uploadHouse } from './upload-house.ts'

forEachDatabase('ends of S3 uploads', (database) => {
  const uploads = uploadHouse(database)

  it('T-98 what an operator began ends with the operator, and a part on its way is refused', async () => {
    const Bucket = uploads.bucket.name
    const operator = ed25519Identity()
    await uploads.bucket.locker.call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity })
    const theirs = done(await askCredentials(uploads.bucket.locker, { access: 'write' }, operator))
    const credentials = {
      accessKeyId: theirs.access_key_id,
      secretAccessKey: theirs.secret_access_key,
      sessionToken: theirs.session_token,
    }
    const client = await uploads.bucket.clientWith({ credentials })
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'theirs' }))
    const of = { Bucket, Key: 'theirs', UploadId }
    const own = await uploads.begin('own')
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
    await uploads.bucket.locker.call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
    removed.resolve()
    await refused
    expect((await own.list()).Parts ?? []).toEqual([])
    await expectS3Error(uploads.bucket.client.send(new ListPartsCommand(of)), 404, 'NoSuchUpload')
    const open = await uploads.bucket.client.send(new ListMultipartUploadsCommand({ Bucket }))
    expect(open.Uploads?.map(({ Key }) => Key)).toEqual(['own'])
  })

  it('T-167 what was begun with a long-lived key ends when that is revoked', { tags: ['nightly'] }, async () => {
    const Bucket = uploads.bucket.name
    const { rooms } = uploads.house.gateway
    const credentials = await longLived()
    const client = await uploads.bucket.clientWith({ credentials })
    const beginWithKey = async (Key: string) => {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))
      const of = { Bucket, Key, UploadId }
      await client.send(new UploadPartCommand({ ...of, PartNumber: 1, Body: randomBytes(PART) }))
      await client.send(new UploadPartCommand({ ...of, PartNumber: 2, Body: randomBytes(10) }))
      return of
    }
    const [idle, completed] = [await beginWithKey('idle'), await beginWithKey('completed')]
    const own = await uploads.begin('own')
    // It is revoked while the provider puts the parts together.
    const { transfers } = rooms
    const finalizeSession = createSessionFinalizer({
      ...transfers,
      providers: {
        ...transfers.providers,
        named(name) {
          const provider = transfers.providers.named(name)
          const complete: ObjectParts['complete'] = async (...parts) => {
            done(await revokeKey(uploads.bucket.locker, credentials.accessKeyId))
            return provider.parts.complete(...parts)
          }
          return { ...provider, parts: { ...provider.parts, complete } }
        },
      },
    })
    await finalizeSession(completed.UploadId!)
    await expectS3Error(uploads.bytesOf('completed'), 404, 'NoSuchKey')
    for (const of of [idle, completed]) {
      await expectS3Error(uploads.bucket.client.send(new ListPartsCommand(of)), 404, 'NoSuchUpload')
    }
    const open = await uploads.bucket.client.send(new ListMultipartUploadsCommand({ Bucket }))
    expect(open.Uploads?.map(({ Key }) => Key)).toEqual(['own'])
    await sweepSessions(transfers)
    const ids = [idle.UploadId!, completed.UploadId!]
    expect(await uploads.rows('upload_parts').where('session_id', 'in', ids).execute()).toEqual([])
    await own.put(1, Buffer.from('still open'))
  })

  it('T-98 an upload that is aborted, or seven days old, leaves nothing', async () => {
    const Bucket = uploads.bucket.name
    const credentials = await longLived()
    const [aborted, expired] = [await uploads.begin('aborted'), await uploads.begin('expired')]
    for (const upload of [aborted, expired]) {
      await upload.put(1, randomBytes(PART))
      await upload.put(2, randomBytes(10))
    }
    await aborted.abort()
    await expectS3Error(aborted.abort(), 404, 'NoSuchUpload')
    await expectS3Error(aborted.put(3, randomBytes(1)), 404, 'NoSuchUpload')
    await expectS3Error(aborted.list(), 404, 'NoSuchUpload')
    uploads.house.clock.advance(7 * 86_400)
    const later = () =>
      uploads.bucket.clientWith({ credentials, systemClockOffset: uploads.house.clock.now() - Date.now() })
    await expectS3Error((await later()).send(new ListPartsCommand(expired.of)), 404, 'NoSuchUpload')
    expect((await (await later()).send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? []).toEqual([])
    await sweepSessions(uploads.house.gateway.rooms.transfers)
    const ids = [aborted.of.UploadId!, expired.of.UploadId!]
    expect(await uploads.rows('upload_parts').where('session_id', 'in', ids).execute()).toEqual([])
  })

  async function longLived() {
    const key = done(await askKey(uploads.bucket.locker))
    return { accessKeyId: key.access_key_id, secretAccessKey: key.secret_access_key }
  }
})
