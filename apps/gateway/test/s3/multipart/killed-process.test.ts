import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { freePort } from '@svc/devnet/free-port'
import { programEnvironment } from '@svc/devnet/start-process'
import { expect, it, onTestFinished } from 'vitest'
import { openS3House, type S3House } from '../s3-house.ts'
import { PART } from './upload-house.ts'

/** Another process of the same gateway, once it serves. */
async function startOther({ gateway }: S3House) {
  const { dataDir, storage } = gateway.context.config
  const port = String(await freePort())
  const child = spawn(process.execPath, [fileURLToPath(new URL('../../../src/main.ts', import.meta.url))], {
    env: programEnvironment({
      SVC_MODE: 'development',
      HOST: '127.0.0.1',
      PORT: port,
      DATA_DIR: dataDir,
      STORAGE_DIR: storage.localFolder,
      RUN_JOBS: 'false',
      LOG_LEVEL: 'info',
    }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  for await (const line of createInterface(child.stdout)) if (line.includes('gateway started')) break
  child.stdout.resume()
  return { child, url: `http://127.0.0.1:${port}/s3` }
}

it('T-110 parts that were acknowledged survive the process, and the upload is completed with them', {
  tags: ['nightly'],
}, async () => {
  const house = await openS3House()
  onTestFinished(() => house.close())
  const { client, clientWith, name: Bucket } = await house.bucket()
  const { child, url } = await startOther(house)
  const doomed = await clientWith({ endpoint: url })
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
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  expect(await exited).toEqual([null, 'SIGKILL'])
  await broken
  const { Parts } = await client.send(new ListPartsCommand(of))
  expect(Parts?.map(({ Size }) => Size)).toEqual([PART, 10])
  const MultipartUpload = { Parts: Parts?.map(({ PartNumber, ETag }) => ({ PartNumber, ETag })) }
  await client.send(new CompleteMultipartUploadCommand({ ...of, MultipartUpload }))
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: 'a' }))
  expect(Buffer.from((await Body?.transformToByteArray()) ?? []).equals(Buffer.concat(parts))).toBe(true)
})
