import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { forEachDatabase } from '@svc/devnet/databases'
import { ed25519Identity } from '@svc/devnet/services/test-gateway'
import type { ObjectParts } from '@svc/storage/provider'
import { expect, it, onTestFinished } from 'vitest'
import { sweepSessions } from '../../../../src/files/parts/close-session.ts'
import { createSessionFinalizer } from '../../../../src/files/parts/finalize-session.ts'
import { startGatewayProcess } from '../../../gateway-process.ts'
import { askCredentials, askKey, expectSuccess, revokeKey } from '../credentials/credentials-gateway.ts'
import { expectS3Error, openS3Gateway, putInHalves, s3Client } from '../s3-gateway.ts'
import { PART, uploadGateway } from './upload-gateway.ts'

const nightly = { tags: ['nightly'] }

forEachDatabase('ends of S3 uploads', (database) => {
  const { storage, instance, bucket, begin, rows, bytesOf } = uploadGateway(database)

  type Begun = Pick<Awaited<ReturnType<typeof begin>>, 'of'>

  /** Parts with a gap between their numbers have to be copied. */
  async function beginWithParts(key: string, numbers: readonly [number, number] = [1, 3], client = bucket.client) {
    const upload = await begin(key, {}, client)
    const parts = [randomBytes(PART), randomBytes(10)]
    for (const [i, part] of parts.entries()) await upload.put(numbers[i]!, part)
    return { ...upload, parts, complete: () => upload.complete(parts, numbers) }
  }
  const putLate = ({ of }: Begun, between: () => Promise<unknown>, credentials = bucket.credentials) =>
    putInHalves(instance, credentials, `/s3/${of.Bucket}/${of.Key}?partNumber=2&uploadId=${of.UploadId}`, between)
  const expectStored = async ({ of, parts }: Begun & { parts: Buffer[] }) =>
    expect((await bytesOf(of.Key)).equals(Buffer.concat(parts))).toBe(true)

  async function expectEnded(uploads: Begun[], open: string[], client = () => bucket.client): Promise<void> {
    for (const { of } of uploads) await expectS3Error(client().send(new ListPartsCommand(of)), 404, 'NoSuchUpload')
    const { Uploads = [] } = await client().send(new ListMultipartUploadsCommand({ Bucket: bucket.name }))
    expect(Uploads.map(({ Key }) => Key)).toEqual(open)
  }
  async function expectSwept(...uploads: Begun[]): Promise<void> {
    await sweepSessions(instance.gateway.context)
    const ids = uploads.map(({ of }) => of.UploadId)
    expect(await rows('upload_parts').where('session_id', 'in', ids).execute()).toEqual([])
  }

  it('T-98 uploads of an operator end when the operator is removed, and a part in progress is refused', async () => {
    const operator = ed25519Identity()
    const { call } = bucket.locker
    await call(['locker:admin'], 'POST', '/operators', { pubkey: operator.identity })
    const given = expectSuccess(await askCredentials(bucket.locker, { access: 'write' }, operator))
    const [theirs, own] = [await begin('theirs', {}, s3Client(instance.s3Url, given)), await begin('own')]
    const remove = () => call(['locker:admin'], 'DELETE', `/operators/${operator.identity}`)
    expect(await putLate(own, remove, given)).toMatchObject({ status: 403, text: expect.stringContaining('Denied') })
    expect((await own.list()).Parts ?? []).toEqual([])
    await expectEnded([theirs], ['own'])
  })

  it('T-36 uploads begun with a long-lived key end when the key is revoked', nightly, async () => {
    const key = expectSuccess(await askKey(bucket.locker))
    const client = s3Client(instance.s3Url, key)
    const beginWithKey = (name: string) => beginWithParts(name, [1, 2], client)
    const [idle, completed] = [await beginWithKey('idle'), await beginWithKey('completed')]
    const own = await begin('own')
    // It is revoked while the provider joins the parts.
    const { context } = instance.gateway
    const named: typeof context.providers.named = (name) => {
      const provider = context.providers.named(name)
      const complete: ObjectParts['complete'] = async (...parts) => {
        expectSuccess(await revokeKey(bucket.locker, key.access_key_id))
        return provider.parts.complete(...parts)
      }
      return { ...provider, parts: { ...provider.parts, complete } }
    }
    await createSessionFinalizer({ ...context, providers: { ...context.providers, named } })(completed.of.UploadId)
    await expectS3Error(bytesOf('completed'), 404, 'NoSuchKey')
    await expectEnded([idle, completed], ['own'])
    await expectSwept(idle, completed)
    await own.put(1, Buffer.from('still open'))
  })

  it('T-98 an upload that is aborted, or seven days old, leaves nothing', async () => {
    const key = expectSuccess(await askKey(bucket.locker))
    const [aborted, expired] = [await beginWithParts('aborted'), await beginWithParts('expired')]
    await aborted.abort()
    for (const ask of [aborted.abort, aborted.list, () => aborted.put(3, randomBytes(1))])
      await expectS3Error(ask(), 404, 'NoSuchUpload')
    instance.clock.advance(7 * 86_400)
    onTestFinished(() => void instance.clock.advance(-7 * 86_400))
    const later = () => s3Client(instance.s3Url, key, { systemClockOffset: instance.clock.now() - Date.now() })
    await expectEnded([expired], [], later)
    await expectSwept(aborted, expired)
  })

  it('T-98 an upload that is being completed cannot be aborted, and is stored', nightly, async () => {
    const upload = await beginWithParts('a')
    const pausedRead = storage.holdRead()
    const completing = upload.complete()
    await pausedRead.began
    await expectS3Error(upload.abort(), 409, 'OperationAborted')
    pausedRead.release()
    await completing
    await expectS3Error(upload.abort(), 404, 'NoSuchUpload')
    await expectStored(upload)
  })

  it(
    'T-98 a part that arrives while its upload is completed is refused and does not reach the file',
    nightly,
    async () => {
      const upload = await beginWithParts('a')
      const late = await putLate(upload, upload.complete)
      expect(late).toMatchObject({ status: 404, text: expect.stringContaining('NoSuchUpload') })
      await expectStored(upload)
    },
  )
})

it('T-50 acknowledged parts survive a killed process, and the upload completes with them', {
  tags: ['nightly'],
}, async () => {
  const instance = await openS3Gateway()
  onTestFinished(() => instance.close())
  const { client, clientWith, name: Bucket } = await instance.bucket()
  const { dataDir, storage } = instance.gateway.context.config
  const variables = { DATA_DIR: dataDir, STORAGE_DIR: storage.localFolder, RUN_JOBS: 'false' }
  const other = await startGatewayProcess(variables)
  const doomed = await clientWith({ endpoint: `${other.url}/s3` })
  const { UploadId } = await doomed.send(new CreateMultipartUploadCommand({ Bucket, Key: 'a' }))
  const of = { Bucket, Key: 'a', UploadId }
  const parts = [randomBytes(PART), randomBytes(10)]
  for (const [i, Body] of parts.entries()) await doomed.send(new UploadPartCommand({ ...of, PartNumber: i + 1, Body }))
  const began = Promise.withResolvers<void>()
  async function* endless() {
    yield Buffer.alloc(PART)
    began.resolve()
    await new Promise(() => {})
  }
  const late = { ...of, PartNumber: 3, Body: Readable.from(endless()), ContentLength: 2 * PART }
  const broken = expect(doomed.send(new UploadPartCommand(late))).rejects.toThrow()
  await began.promise
  expect(await other.kill()).toMatchObject({ signal: 'SIGKILL' })
  await broken
  const { Parts } = await client.send(new ListPartsCommand(of))
  expect(Parts?.map(({ Size }) => Size)).toEqual([PART, 10])
  const MultipartUpload = { Parts: Parts?.map(({ PartNumber, ETag }) => ({ PartNumber, ETag })) }
  await client.send(new CompleteMultipartUploadCommand({ ...of, MultipartUpload }))
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'a' }))
  expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(Buffer.concat(parts))).toBe(true)
})
