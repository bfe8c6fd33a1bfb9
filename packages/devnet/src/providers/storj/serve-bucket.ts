import type { Exchange } from '../http/exchange.ts'
import type { Objects } from './objects.ts'
import { StoreError } from './store-error.ts'
import type { Uploads } from './uploads.ts'
import { element } from './xml.ts'

/** Whether the bucket is there, and what is in it. */
export function serveBucket(exchange: Exchange, objects: Objects, uploads: Uploads, pageSize: number): void {
  const { method, url } = exchange
  const list = url.searchParams.has('uploads')
    ? () => listUploads(url, uploads)
    : () => listObjects(url, objects, pageSize)
  if (method !== 'GET' && method !== 'HEAD') throw new StoreError(405, 'MethodNotAllowed')
  exchange.answer(200, {}, method === 'HEAD' ? '' : list())
}

function listUploads({ searchParams }: URL, uploads: Uploads): string {
  const prefix = searchParams.get('prefix') ?? ''
  const found = uploads.list().filter(({ key }) => key.startsWith(prefix))
  const listed = found.map(({ key, id }) => ({ Upload: { Key: key, UploadId: id } }))
  return element('ListMultipartUploadsResult', { Prefix: prefix, IsTruncated: 'false' }, listed)
}

function listObjects({ searchParams }: URL, objects: Objects, pageSize: number): string {
  const prefix = searchParams.get('prefix') ?? ''
  // As Storj, where the owner of a bucket has its keys encrypted: it can only tell whole folders apart.
  if (prefix !== '' && !prefix.endsWith('/')) throw new StoreError(501, 'NotImplemented')
  const found = objects.list().filter(({ key }) => key.startsWith(prefix))
  const from = Number(/^page&(\d+)$/.exec(searchParams.get('continuation-token') ?? '')?.[1] ?? 0)
  const page = found.slice(from, from + pageSize)
  const next = from + page.length < found.length ? { NextContinuationToken: `page&${from + page.length}` } : {}
  const listed = page.map(({ key, size }) => ({ Contents: { Key: key, Size: `${size}` } }))
  return element('ListBucketResult', { Prefix: prefix, ...next }, listed)
}
