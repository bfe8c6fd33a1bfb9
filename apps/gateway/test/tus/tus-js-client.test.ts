import { randomBytes } from 'node:crypto'
import { Upload, type UploadOptions } from 'tus-js-client'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { ed25519Identity, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { publicBytes } from '../transfers/sessions/sessions.ts'
import { sha256 } from '../transfers/transfers.ts'
import { type Line, openLine } from './line.ts'
import { tusToken } from './uploads.ts'

let line: Line
let house: LockerHouse
let locker: TestLocker
let token: string
beforeAll(async () => {
  line = await openLine()
  house = await openLockerHouse({ BASE_URL: line.url })
  line.target = house.gateway.url
  locker = await house.locker(ed25519Identity())
  token = await tusToken(locker)
})
afterAll(async () => {
  await house.close()
  line.close()
})

/** Uploads with the stock client; resolves to the number of requests it took. */
function upload(bytes: Buffer, filename: string, options: UploadOptions): Promise<string[]> {
  const requests: string[] = []
  return new Promise((resolve, reject) => {
    const client = new Upload(bytes, {
      endpoint: `${line.url}/v1/lockers/${locker.lockerId}/tus`,
      headers: { 'X-Upload-Token': token },
      metadata: { filename, filetype: 'application/x-test', expected_hash: sha256(bytes) },
      retryDelays: [0, 50, 100, 200, 400],
      onBeforeRequest: (request) => void requests.push(request.getMethod()),
      onError: reject,
      onSuccess: () => resolve(requests),
      ...options,
    })
    onTestFinished(() => void client.abort())
    client.start()
  })
}

it('T-99 ADD-46 tus-js-client uploads in one request, in chunks, and with its first bytes', async () => {
  const bytes = randomBytes(3_000_000)
  expect(await upload(bytes, 'one', {})).toEqual(['POST', 'PATCH'])
  expect(await upload(bytes, 'chunks', { chunkSize: 1_000_000 })).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH'])
  const during = { uploadDataDuringCreation: true, chunkSize: 2_000_000 }
  expect(await upload(bytes, 'during', during)).toEqual(['POST', 'PATCH'])
  for (const name of ['one', 'chunks', 'during']) expect(await publicBytes(house, locker, name)).toEqual(bytes)
})

it('T-99 ADD-46 after a cut in the middle it goes on where it was, and the file is placed without a copy', {
  tags: ['nightly'],
}, async () => {
  const bytes = randomBytes(20_000_000)
  line.cutAfter = 12_000_000
  const requests = await upload(bytes, 'cut', {})
  expect(requests.filter((method) => method === 'POST')).toHaveLength(1)
  expect(requests).toContain('HEAD')
  expect(await publicBytes(house, locker, 'cut')).toEqual(bytes)
  const { db } = house.gateway.context.database
  const { object_id } = await db
    .selectFrom('files')
    .select('object_id')
    .where('filename', '=', 'cut')
    .executeTakeFirstOrThrow()
  // The object that the blocks were written into.
  const file = db.selectFrom('upload_session_files').selectAll().where('filename', '=', 'cut')
  expect(await file.executeTakeFirst()).toMatchObject({
    state: 'stored',
    upload_state: 'sealed',
    upload_ref: '8388608',
  })
  expect(object_id).toMatch(/^[0-9a-f]{32}$/)
})

it('T-99 ADD-46 parallel uploads are joined in their order', { tags: ['nightly'] }, async () => {
  const bytes = randomBytes(5_000_003)
  const requests = await upload(bytes, 'parallel', { parallelUploads: 4 })
  expect(requests.filter((method) => method === 'POST')).toHaveLength(5)
  expect(await publicBytes(house, locker, 'parallel')).toEqual(bytes)
})

it('T-99 a deferred length works with streams', async () => {
  const bytes = randomBytes(2_500_000)
  const { Readable } = await import('node:stream')
  await new Promise<void>((resolve, reject) => {
    new Upload(Readable.from([bytes], { objectMode: false }), {
      endpoint: `${line.url}/v1/lockers/${locker.lockerId}/tus`,
      headers: { 'X-Upload-Token': token },
      metadata: { filename: 'stream' },
      chunkSize: 1_000_000,
      uploadLengthDeferred: true,
      onError: reject,
      onSuccess: () => resolve(),
    }).start()
  })
  expect(await publicBytes(house, locker, 'stream')).toEqual(bytes)
})
