import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { Upload, type UploadOptions } from 'tus-js-client'
import { expect, it, onTestFinished } from 'vitest'
import { publicBytes } from '../http/sessions/sessions.ts'
import { sha256 } from '../http/transfers.ts'
import { openSwitchableProxy } from './switchable-proxy.ts'
import { tusToken } from './uploads.ts'

const proxy = forAllTests(openSwitchableProxy)
const instance = forAllTests(async () => {
  const opened = await openTestGateway({ BASE_URL: proxy.url })
  proxy.target = opened.gateway.url
  return opened
})
const locker = forAllTests(() => instance.locker(ed25519Identity()))

/** Uploads with the stock client, and expects the file to be stored; resolves to the methods of its requests. */
async function upload(bytes: Buffer, filename: string, options: UploadOptions, source: Buffer | Readable = bytes) {
  const requests: string[] = []
  const headers = { 'X-Upload-Token': await tusToken(locker) }
  await new Promise<void>((resolve, reject) => {
    const client = new Upload(source, {
      endpoint: `${proxy.url}/v1/lockers/${locker.lockerId}/tus`,
      headers,
      metadata: { filename, filetype: 'application/x-test', expected_hash: sha256(bytes) },
      retryDelays: [0, 50, 100, 200, 400],
      onBeforeRequest: (request) => void requests.push(request.getMethod()),
      onError: reject,
      onSuccess: () => resolve(),
      ...options,
    })
    onTestFinished(() => void client.abort())
    client.start()
  })
  expect(await publicBytes(instance, locker, filename)).toEqual(bytes)
  return requests
}

it('T-98 ADD-46 tus-js-client uploads in one request, in chunks, with its first bytes, and a stream', async () => {
  const bytes = randomBytes(3_000_000)
  expect(await upload(bytes, 'one', {})).toEqual(['POST', 'PATCH'])
  expect(await upload(bytes, 'chunks', { chunkSize: 1_000_000 })).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH'])
  const during = { uploadDataDuringCreation: true, chunkSize: 2_000_000 }
  expect(await upload(bytes, 'during', during)).toEqual(['POST', 'PATCH'])
  const source = Readable.from([bytes], { objectMode: false })
  const deferred = { uploadLengthDeferred: true, chunkSize: 2_000_000 }
  expect((await upload(bytes, 'stream', deferred, source))[0]).toBe('POST')
})

it('T-98 ADD-46 parallel uploads are joined in their order', { tags: ['nightly'] }, async () => {
  const requests = await upload(randomBytes(5_000_003), 'parallel', { parallelUploads: 4 })
  expect(requests.filter((method) => method === 'POST')).toHaveLength(5)
})
