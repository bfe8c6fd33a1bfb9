import type { Body } from '../http/send-body.ts'
import { ProviderError } from '../provider.ts'
import { ONLY_IF_NEW, type OwnWrite } from './own-write.ts'
import { Refusal } from './errors.ts'
import type { Store } from './bucket.ts'
import { escaped, textIn } from './xml.ts'

/** S3 takes no more. */
export const MAX_PARTS = 10_000

/** Sends an object part by part and says how long it is. Where that fails no part is left. */
export async function putInParts(
  store: Store,
  { key, headers }: OwnWrite,
  parts: AsyncIterable<NonNullable<Body>> | Iterable<NonNullable<Body>>,
): Promise<number> {
  const { text } = await store.ask({ method: 'POST', key, query: { uploads: '' }, headers })
  const uploadId = textIn(text, 'UploadId')
  if (!uploadId) throw new ProviderError('unavailable', new Error('the store began an upload without a name'))
  const etags: string[] = []
  let size = 0
  try {
    for await (const body of parts) {
      if (etags.length === MAX_PARTS) throw new RangeError('the source is larger than the store takes')
      const query = { uploadId, partNumber: `${etags.length + 1}` }
      const answer = await store.ask({ method: 'PUT', key, query, body })
      etags.push(`${answer.headers.etag}`)
      size += body.length
    }
    await store.ask({ method: 'POST', key, query: { uploadId }, headers: ONLY_IF_NEW, body: listOf(etags) })
    return size
  } catch (error) {
    // What went wrong before matters more than a failure of this.
    await abortUpload(store, key, uploadId).catch(() => {})
    throw error
  }
}

function listOf(etags: readonly string[]): Buffer {
  const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`)
  return Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
}

export async function abortUpload(store: Store, key: string, uploadId: string): Promise<void> {
  await store.ask({ method: 'DELETE', key, query: { uploadId } }).catch((error) => {
    if (!(error instanceof Refusal && error.code === 'NoSuchUpload')) throw error
  })
}
