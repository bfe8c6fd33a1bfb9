// For tests: an instance whose storage is watched, with a new bucket for each test, and multipart uploads to it.

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { beforeEach } from 'vitest'
import { watchedStorage } from '../../../files/confirm/confirm.ts'
import { sha256 } from '../../http/transfers.ts'
import { objectsOf, openS3Gateway } from '../s3-gateway.ts'

export const PART = 5 * 1_048_576
/** The ETag of a confirmed object or of a small part. */
export const etagOf = (bytes: Uint8Array) => `"${sha256(bytes).slice(0, 32)}-1"`

/** Call it where tests are declared. */
export function uploadGateway(database: { readonly url: string }) {
  const storage = forAllTests(watchedStorage)
  const instance = forAllTests(() => openS3Gateway({ DATABASE_URL: database.url }, { providers: storage.providers }))
  const bucket = forEachTest(() => instance.bucket())
  beforeEach(() => {
    storage.reads.length = 0
  })

  async function begin(Key: string, more: object = {}, client = bucket.client) {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: bucket.name, Key, ...more }))
    const of = { Bucket: bucket.name, Key, UploadId: UploadId! }
    const etags = new Map<Uint8Array, string | undefined>()
    return {
      of,
      /** The returned ETags, by the bytes of their parts. */
      etags,
      async put(PartNumber: number, Body: Uint8Array, changes: object = {}) {
        const sent = await client.send(new UploadPartCommand({ ...of, PartNumber, Body, ...changes }))
        etags.set(Body, sent.ETag)
        return sent
      },
      /** Completes the upload with these part numbers, which count from 1 by default. */
      complete(
        parts: readonly Uint8Array[],
        numbers: readonly number[] = parts.map((_, i) => i + 1),
        changes: object = {},
      ) {
        const Parts = parts.map((part, i) => ({ PartNumber: numbers[i], ETag: etags.get(part) ?? etagOf(part) }))
        return client.send(new CompleteMultipartUploadCommand({ ...of, MultipartUpload: { Parts }, ...changes }))
      },
      list: (changes: object = {}) => client.send(new ListPartsCommand({ ...of, ...changes })),
      abort: () => client.send(new AbortMultipartUploadCommand(of)),
    }
  }

  const rows = (table: 'upload_parts' | 'objects') => instance.gateway.context.database.db.selectFrom(table).selectAll()
  return { storage, instance, bucket, begin, rows, bytesOf: objectsOf(bucket).bytesOf }
}
