// For tests: a house whose storage is watched, with a new bucket for each test, and uploads in parts to it.

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { beforeEach } from 'vitest'
import { watchedStorage } from '../../files/confirm/confirm.ts'
import { forAllTests, forEachTest } from '../../for-tests.ts'
import { sha256 } from '../../transfers/transfers.ts'
import { objectsOf, openS3House } from '../s3-house.ts'

export const PART = 5 * 1_048_576
export const etagOf = (bytes: Uint8Array) => `"${sha256(bytes).slice(0, 32)}-1"`

/** Call it where tests are declared. */
export function uploadHouse(database?: { readonly url: string }) {
  const storage = forAllTests(watchedStorage, ({ remove }) => remove())
  const house = forAllTests(() =>
    openS3House(database ? { DATABASE_URL: database.url } : {}, { providers: storage.providers }),
  )
  const bucket = forEachTest(() => house.bucket())
  beforeEach(() => {
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

  const rows = (table: 'upload_parts' | 'objects') => house.gateway.context.database.db.selectFrom(table).selectAll()
  return { storage, house, bucket, begin, rows, bytesOf: objectsOf(bucket).bytesOf }
}
