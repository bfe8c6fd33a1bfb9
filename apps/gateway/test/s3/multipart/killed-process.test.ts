import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { expect, it, onTestFinished } from 'vitest'
import { startGatewayProcess } from '../../gateway-process.ts'
import { openS3House } from '../s3-house.ts'
import { PART } from './upload-house.ts'

it('T-110 parts that were acknowledged survive the process, and the upload is completed with them', {
  tags: ['nightly'],
}, async () => {
  const house = await openS3House()
  onTestFinished(() => house.close())
  const { client, clientWith, name: Bucket } = await house.bucket()
  const { dataDir, storage } = house.gateway.context.config
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
