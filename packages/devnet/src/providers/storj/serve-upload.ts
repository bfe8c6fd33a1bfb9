import { text } from 'node:stream/consumers'
import type { Exchange } from '../http/exchange.ts'
import type { Objects } from './objects.ts'
import { receive } from './receive.ts'
import { keptHeaders } from './serve-object.ts'
import { StoreError } from './store-error.ts'
import type { Uploads } from './uploads.ts'
import { element } from './xml.ts'

/** All that is done to an object in parts. */
export async function serveUpload(
  exchange: Exchange,
  objects: Objects,
  uploads: Uploads,
  key: string,
  mustBeNew: boolean,
): Promise<void> {
  const { method, url } = exchange
  const id = url.searchParams.get('uploadId')
  if (id === null) {
    const begun = uploads.begin(key, keptHeaders(exchange))
    return exchange.answer(200, {}, element('InitiateMultipartUploadResult', { Key: key, UploadId: begun }))
  }
  const upload = uploads.find(key, id)
  if (method === 'DELETE') {
    await uploads.abort(upload)
    return exchange.answer(204)
  }
  if (method === 'PUT') {
    const part = await receive(exchange, objects.newPath())
    await uploads.keepPart(upload, Number(url.searchParams.get('partNumber')), part)
    return exchange.answer(200, { etag: `"${part.etag}"` })
  }
  if (mustBeNew && objects.find(key)) throw new StoreError(412, 'PreconditionFailed')
  const etags = [...(await text(exchange.body)).matchAll(/<ETag>"([\w-]+)"<\/ETag>/g)].map((match) => `${match[1]}`)
  const etag = await uploads.complete(upload, etags, mustBeNew)
  exchange.answer(200, {}, element('CompleteMultipartUploadResult', { Key: key, ETag: `"${etag}"` }))
}
