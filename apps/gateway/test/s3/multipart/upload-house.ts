// For tests: a house whose storage is watched, with a new bucket for each test, and uploads in parts to it.

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type WatchedStorage, watchedStorage } from '../../files/confirm/confirm.ts'
import { sha256 } from '../../transfers/transfers.ts'
import { type Bucket, openS3House, type S3House } from '../s3-house.ts'

export const PART = 5 * 1_048_576
export const etagOf = (bytes: Uint8Array) => `"${sha256(bytes).slice(0, 32)}-1"`

/** Call it where tests are declared; its values are those of the running test. */
export function uploadHouse(database: { readonly url: string }) {
  let storage: WatchedStorage
  let house: S3House
  let bucket: Bucket
  beforeAll(async () => {
    storage = await watchedStorage()
    house = await openS3House({ DATABASE_URL: database.url }, { providers: storage.providers })
  })
  afterAll(async () => {
    await house.close()
    await storage.remove()
  })
  beforeEach(async () => {
    bucket = await house.bucket()
    storage.reads.length = 0
  })

  async function begin(Key: string, more: object = {}) {
    const { client, name: Bucket } = bucket
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ...more }))
    const of = { Bucket, Key, UploadId }
    return {
      of,
      put: (PartNumber: number, Body: Uint8Array, changes: object = {}) =>
        client.send(new UploadPartCommand({ ...of, PartNumber, Body, ...changes })),
      complete: (parts: readonly (readonly [number, Uint8Array])[], changes: object = {}) =>
        client.send(
          new CompleteMultipartUploadCommand({
            ...of,
            MultipartUpload: { Parts: parts.map(([PartNumber, bytes]) => ({ PartNumber, ETag: etagOf(bytes) })) },
            ...changes,
          }),
        ),
      list: (changes: object = {}) => client.send(new ListPartsCommand({ ...of, ...changes })),
      abort: () => client.send(new AbortMultipartUploadCommand({ ...of })),
    }
  }

  return {
    get storage() {
      return storage
    },
    get house() {
      return house
    },
    get bucket() {
      return bucket
    },
    begin,
    async bytesOf(Key: string): Promise<Buffer> {
      const { Body } = await bucket.client.send(new GetObjectCommand({ Bucket: bucket.name, Key }))
      return Buffer.from((await Body?.transformToByteArray()) ?? [])
    },
    rows: (table: 'upload_parts' | 'objects') => house.gateway.context.database.db.selectFrom(table).selectAll(),
  }
}
