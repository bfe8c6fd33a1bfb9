// @module-tag nightly

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { expect, it, onTestFinished } from 'vitest'
import { resumeFinalizations } from '../../../src/transfers/sessions/close-session.ts'
import { watchedStorage } from '../../files/confirm/confirm.ts'
import { expectS3Error, openS3House } from '../s3-house.ts'

const PART = 5 * 1_048_576

/** An upload whose two parts have to be copied, as they lie apart. */
async function uploadApart() {
  const storage = await watchedStorage()
  const house = await openS3House({}, { providers: storage.providers })
  onTestFinished(async () => {
    await house.close()
    await storage.remove()
  })
  const { client, name: Bucket } = await house.bucket()
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'a' }))
  const of = { Bucket, Key: 'a', UploadId }
  const parts = [randomBytes(PART), randomBytes(10)]
  const Parts: { PartNumber: number; ETag: string | undefined }[] = []
  for (const [i, Body] of parts.entries()) {
    const PartNumber = 2 * i + 1
    const { ETag } = await client.send(new UploadPartCommand({ ...of, PartNumber, Body }))
    Parts.push({ PartNumber, ETag })
  }
  const complete = () => client.send(new CompleteMultipartUploadCommand({ ...of, MultipartUpload: { Parts } }))
  const read = async () => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'a' }))
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }
  return { storage, house, client, of, complete, read, bytes: Buffer.concat(parts) }
}

it('T-98 an upload that is being completed is not aborted, and is stored', async () => {
  const { storage, client, of, complete, read, bytes } = await uploadApart()
  const held = storage.holdRead()
  const completing = complete()
  await held.began
  await expectS3Error(client.send(new AbortMultipartUploadCommand(of)), 409, 'OperationAborted')
  held.letGo()
  await completing
  await expectS3Error(client.send(new AbortMultipartUploadCommand(of)), 404, 'NoSuchUpload')
  expect((await read()).equals(bytes)).toBe(true)
})

it('T-110 a part that is on its way when its upload is completed is refused, and no part of the file', async () => {
  const { client, of, complete, read, bytes } = await uploadApart()
  const [began, completed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  async function* slow() {
    yield Buffer.alloc(100)
    began.resolve()
    await completed.promise
    yield Buffer.alloc(100)
  }
  const late = { ...of, PartNumber: 2, Body: Readable.from(slow()), ContentLength: 200 }
  const refused = expectS3Error(client.send(new UploadPartCommand(late)), 404, 'NoSuchUpload')
  await began.promise
  await complete()
  completed.resolve()
  await refused
  expect((await read()).equals(bytes)).toBe(true)
})

it('T-98 a completion that storage cuts off is finished by a job, and completing again answers it', async () => {
  const { storage, house, complete, read, bytes } = await uploadApart()
  storage.failRead()
  await expectS3Error(complete(), 503, 'ServiceUnavailable')
  house.clock.advance(2)
  await resumeFinalizations(house.gateway.rooms.transfers)
  await house.gateway.context.queue.drain()
  expect((await read()).equals(bytes)).toBe(true)
  expect((await complete()).ETag).toMatch(/^"[0-9a-f]{32}-1"$/)
})
