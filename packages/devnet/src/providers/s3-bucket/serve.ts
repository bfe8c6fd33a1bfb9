// What the bucket serves: its objects, uploads in parts, and listings.

import { rm } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { type Exchange, Refusal, receiveFile } from '../http/exchange.ts'
import type { Objects, StoredObject } from './objects.ts'
import type { Uploads } from './uploads.ts'

/** GET, HEAD, PUT and DELETE of one object. */
export async function serveObject(
  exchange: Exchange,
  objects: Objects,
  key: string,
  mustBeNew: boolean,
): Promise<void> {
  const { method } = exchange
  if (method === 'PUT') return put(exchange, objects, key, mustBeNew)
  if (method === 'DELETE') {
    await objects.remove(key)
    return exchange.answer(204)
  }
  const object = objects.find(key)
  if (!object) throw new Refusal(404, 'NoSuchKey')
  if (method === 'HEAD') return exchange.answer(200, headersOf(exchange, object, object.size))
  if (method !== 'GET') throw new Refusal(405, 'MethodNotAllowed')
  return get(exchange, objects, object)
}

async function put(exchange: Exchange, objects: Objects, key: string, mustBeNew: boolean): Promise<void> {
  const { etag, ...file } = await receiveFile(exchange, objects.newPath())
  await objects.keep({ key, etag, headers: storedHeaders(exchange), files: [file] }, mustBeNew).catch(async (error) => {
    await rm(file.path, { force: true })
    throw error
  })
  exchange.answer(200, { etag: `"${etag}"` })
}

/** The request headers that are stored with an object. */
function storedHeaders({ headers }: Exchange): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) =>
    /^(content-type|content-encoding|cache-control|x-amz-meta-.*)$/.test(name),
  )
  return Object.fromEntries(kept.map(([name, value]) => [name, `${value}`]))
}

async function get(exchange: Exchange, objects: Objects, object: StoredObject): Promise<void> {
  const { headers } = exchange
  const ifMatch = headers['if-match']
  if (ifMatch !== undefined && ifMatch !== `"${object.etag}"`) throw new Refusal(412, 'PreconditionFailed')
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
  const start = Number(first ?? 0)
  const end = Math.min(last ? Number(last) : Number.POSITIVE_INFINITY, object.size - 1)
  if (first !== undefined && start > end) throw new Refusal(416, 'InvalidRange')
  const range = first === undefined ? {} : { 'content-range': `bytes ${start}-${end}/${object.size}` }
  const answer = { ...headersOf(exchange, object, end - start + 1), ...range }
  if (object.size === 0) return exchange.answer(200, answer)
  await exchange.answerStream(first === undefined ? 200 : 206, answer, objects.read(object, start, end))
}

function headersOf(
  { url }: Exchange,
  { headers, etag }: StoredObject,
  length: number,
): Record<string, string | number> {
  const asked = ['content-type', 'cache-control'].flatMap((name) => {
    const value = url.searchParams.get(`response-${name}`)
    return value ? [[name, value]] : []
  })
  return { ...headers, ...Object.fromEntries(asked), 'content-length': length, etag: `"${etag}"` }
}

/** Multipart uploads. */
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
    const begun = uploads.begin(key, storedHeaders(exchange))
    return exchange.answer(200, {}, element('InitiateMultipartUploadResult', { Key: key, UploadId: begun }))
  }
  const upload = uploads.find(key, id)
  if (method === 'DELETE') {
    await uploads.abort(upload)
    return exchange.answer(204)
  }
  if (method === 'PUT') {
    const part = await receiveFile(exchange, objects.newPath())
    await uploads.keepPart(upload, Number(url.searchParams.get('partNumber')), part)
    return exchange.answer(200, { etag: `"${part.etag}"` })
  }
  if (mustBeNew && objects.find(key)) throw new Refusal(412, 'PreconditionFailed')
  const named = (await text(exchange.body)).matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"([\w-]+)"<\/ETag>/g)
  const parts = [...named].map(([, number, etag]) => ({ number: Number(number), etag: `${etag}` }))
  const etag = await uploads.complete(upload, parts, mustBeNew)
  exchange.answer(200, {}, element('CompleteMultipartUploadResult', { Key: key, ETag: `"${etag}"` }))
}

/** HEAD and listings of the bucket. */
export function serveBucket(exchange: Exchange, objects: Objects, uploads: Uploads, pageSize: number): void {
  const { method, url } = exchange
  const list = url.searchParams.has('uploads')
    ? () => listUploads(url, uploads, pageSize)
    : () => listObjects(url, objects, pageSize)
  if (method !== 'GET' && method !== 'HEAD') throw new Refusal(405, 'MethodNotAllowed')
  exchange.answer(200, {}, method === 'HEAD' ? '' : list())
}

/** Sorted by key, then by start. The markers name the last upload of the previous page. */
function listUploads({ searchParams }: URL, uploads: Uploads, pageSize: number): string {
  const prefix = searchParams.get('prefix') ?? ''
  const marker = { key: searchParams.get('key-marker') ?? '', id: searchParams.get('upload-id-marker') ?? '' }
  const found = uploads.list().filter(({ key }) => key.startsWith(prefix) && key >= marker.key)
  found.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const rest = found.slice(found.findIndex(({ key, id }) => key === marker.key && id === marker.id) + 1)
  const page = rest.slice(0, pageSize)
  const last = page.at(-1)
  const isTruncated = page.length < rest.length
  const next = isTruncated && last ? { NextKeyMarker: last.key, NextUploadIdMarker: last.id } : {}
  const listed = page.map(({ key, id }) => ({ Upload: { Key: key, UploadId: id } }))
  return element('ListMultipartUploadsResult', { Prefix: prefix, IsTruncated: `${isTruncated}`, ...next }, listed)
}

function listObjects({ searchParams }: URL, objects: Objects, pageSize: number): string {
  const prefix = searchParams.get('prefix') ?? ''
  // Like Storj with encrypted keys, which can list only whole folders.
  if (prefix !== '' && !prefix.endsWith('/')) throw new Refusal(501, 'NotImplemented')
  const found = objects.list().filter(({ key }) => key.startsWith(prefix))
  const from = Number(/^page&(\d+)$/.exec(searchParams.get('continuation-token') ?? '')?.[1] ?? 0)
  const page = found.slice(from, from + pageSize)
  const next = from + page.length < found.length ? { NextContinuationToken: `page&${from + page.length}` } : {}
  const listed = page.map(({ key, size }) => ({ Contents: { Key: key, Size: `${size}` } }))
  return element('ListBucketResult', { Prefix: prefix, ...next }, listed)
}

type Texts = Record<string, string>

/** An S3 document: text elements, then a list of elements that hold texts. */
export function element(root: string, texts: Texts, list: readonly Record<string, Texts>[] = []): string {
  const listed = list.map((item) => Object.entries(item).map(([name, inner]) => `<${name}>${content(inner)}</${name}>`))
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${content(texts)}${listed.flat().join('')}</${root}>`
}

function content(texts: Texts): string {
  return Object.entries(texts)
    .map(([name, text]) => `<${name}>${text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`)}</${name}>`)
    .join('')
}
