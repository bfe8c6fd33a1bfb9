// @module-tag nightly

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { UploadPartCommand } from '@aws-sdk/client-s3'
import { expect, it } from 'vitest'
import { resumeFinalizations } from '../../../src/transfers/sessions/close-session.ts'
import { expectS3Error } from '../s3-house.ts'
import { PART, uploadHouse } from './upload-house.ts'

const uploads = uploadHouse()

/** An upload whose two parts have to be copied, as they lie apart. */
async function uploadApart() {
  const upload = await uploads.begin('a')
  const parts = [randomBytes(PART), randomBytes(10)] as const
  await upload.put(1, parts[0])
  await upload.put(3, parts[1])
  return {
    ...upload,
    complete: () =>
      upload.complete([
        [1, parts[0]],
        [3, parts[1]],
      ]),
    expectStored: async () => expect((await uploads.bytesOf('a')).equals(Buffer.concat(parts))).toBe(true),
  }
}

it('T-98 an upload that is being completed is not aborted, and is stored', async () => {
  const { abort, complete, expectStored } = await uploadApart()
  const held = uploads.storage.holdRead()
  const completing = complete()
  await held.began
  await expectS3Error(abort(), 409, 'OperationAborted')
  held.letGo()
  await completing
  await expectS3Error(abort(), 404, 'NoSuchUpload')
  await expectStored()
})

it('T-110 a part that is on its way when its upload is completed is refused, and no part of the file', async () => {
  const { of, complete, expectStored } = await uploadApart()
  const [began, completed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  async function* slow() {
    yield Buffer.alloc(100)
    began.resolve()
    await completed.promise
    yield Buffer.alloc(100)
  }
  const late = { ...of, PartNumber: 2, Body: Readable.from(slow()), ContentLength: 200 }
  const refused = expectS3Error(uploads.bucket.client.send(new UploadPartCommand(late)), 404, 'NoSuchUpload')
  await began.promise
  await complete()
  completed.resolve()
  await refused
  await expectStored()
})

it('T-98 a completion that storage cuts off is finished by a job, and completing again answers it', async () => {
  const { complete, expectStored } = await uploadApart()
  const { house, storage } = uploads
  storage.failRead()
  await expectS3Error(complete(), 503, 'ServiceUnavailable')
  house.clock.advance(2)
  await resumeFinalizations(house.gateway.rooms.transfers)
  await house.gateway.context.queue.drain()
  await expectStored()
  expect((await complete()).ETag).toMatch(/^"[0-9a-f]{32}-1"$/)
})
