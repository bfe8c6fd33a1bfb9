// The bucket's objects through the JSON API: metadata, bytes, deletion, listings.

import { createWriteStream } from 'node:fs'
import { json } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Exchange } from './exchange.ts'
import { crc32cOf, type GcsObject, type Objects } from './objects.ts'

interface Bucket {
  bucket: string
  pageSize: number
}

export async function serveObjects(exchange: Exchange, objects: Objects, { bucket, pageSize }: Bucket): Promise<void> {
  const { method, url } = exchange
  const [, inBucket, encodedName] = /^\/storage\/v1\/b\/([^/]+)\/o(?:\/(.+))?$/.exec(url.pathname) ?? []
  if (inBucket !== bucket) return exchange.refuse(404, 'notFound', 'The specified bucket does not exist.')
  if (!encodedName) return listObjects(exchange, objects, pageSize)
  const [, composed] = /^([^/]+)\/compose$/.exec(encodedName) ?? []
  if (composed) return compose(exchange, objects, bucket, decodeURIComponent(composed))
  const name = decodeURIComponent(encodedName)
  const found = objects.find(name)
  const isMedia = url.searchParams.get('alt') === 'media'
  if (!found) {
    const message = `No such object: ${bucket}/${name}`
    return isMedia ? exchange.answer(404, message) : exchange.refuse(404, 'notFound', message)
  }
  const wanted = url.searchParams.get('ifGenerationMatch')
  if (wanted !== null && wanted !== found.generation) return refusePrecondition(exchange)
  if (method === 'DELETE') {
    await objects.remove(name)
    return exchange.answer(204)
  }
  if (method !== 'GET') return exchange.refuse(405, 'methodNotAllowed', 'Method Not Allowed')
  if (isMedia) return serveMedia(exchange, objects, found, found.contentType)
  exchange.answer(200, wireObject(found, bucket))
}

const MAX_SOURCES = 32

interface Composition {
  sourceObjects: { name: string }[]
  destination: { contentType: string }
}

/** Concatenates objects into a new one. The sources stay. */
async function compose(exchange: Exchange, objects: Objects, bucket: string, name: string): Promise<void> {
  const { sourceObjects, destination } = (await json(exchange.body)) as Composition
  if (sourceObjects.length === 0 || sourceObjects.length > MAX_SOURCES) {
    return exchange.refuse(400, 'invalid', 'The number of source components provided (0 to 32) is not supported')
  }
  const sources = sourceObjects.map((source) => objects.find(source.name))
  if (sources.some((source) => source === null)) return exchange.refuse(404, 'notFound', 'No such object')
  const mustBeNew = exchange.url.searchParams.get('ifGenerationMatch') === '0'
  const path = objects.newFile()
  for (const source of sources as GcsObject[]) {
    const file = await objects.read(source)
    await pipeline(file.createReadStream(), createWriteStream(path, { flags: 'a' }))
  }
  const size = (sources as GcsObject[]).reduce((sum, source) => sum + source.size, 0)
  const about = { name, crc32c: await crc32cOf(path), contentType: destination.contentType, metadata: {} }
  const kept = await objects.keep(path, size, about, mustBeNew)
  if (!kept) return refusePrecondition(exchange)
  exchange.answer(200, wireObject(kept, bucket))
}

/** Always contains the fields that our clients read, even if the request selects fewer. */
export function wireObject({ size, ...rest }: GcsObject, bucket: string) {
  return { kind: 'storage#object', bucket, metageneration: '1', size: `${size}`, ...rest }
}

export function refusePrecondition(exchange: Exchange): void {
  exchange.refuse(412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.')
}

function listObjects(exchange: Exchange, objects: Objects, pageSize: number): void {
  const { searchParams } = exchange.url
  const prefix = searchParams.get('prefix') ?? ''
  const from = searchParams.get('pageToken') ?? searchParams.get('startOffset') ?? ''
  const most = Math.min(Number(searchParams.get('maxResults') ?? pageSize), pageSize)
  const matching = objects.list().filter(({ name }) => name.startsWith(prefix) && name >= from)
  const next = matching[most]
  exchange.answer(200, {
    kind: 'storage#objects',
    items: matching.slice(0, most).map(({ name }) => ({ name })),
    ...(next && { nextPageToken: next.name }),
  })
}

const CHUNK_BYTES = 256 * 1024

/** The bytes of an object, or the requested range. Clients that do not accept gzip get compressed ones decompressed. */
export async function serveMedia(exchange: Exchange, objects: Objects, found: GcsObject, contentType: string) {
  const { size, generation, crc32c, contentEncoding = 'identity' } = found
  const stored = {
    'content-type': contentType,
    'x-goog-generation': generation,
    'x-goog-hash': `crc32c=${crc32c}`,
    'x-goog-stored-content-encoding': contentEncoding,
    'x-goog-stored-content-length': size,
  }
  if (contentEncoding === 'gzip' && !/gzip/.test(`${exchange.headers['accept-encoding'] ?? ''}`)) {
    const compressed = (await objects.read(found)).createReadStream()
    return exchange.answerStream(200, stored, compressed.pipe(createGunzip()))
  }
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(exchange.headers.range ?? '') ?? []
  const start = Number(first ?? 0)
  const end = Math.min(last ? Number(last) : size - 1, size - 1)
  if (first && start >= size) {
    return exchange.answer(416, 'Requested range not satisfiable', { 'content-range': `bytes */${size}` })
  }
  const headers = {
    ...stored,
    'content-length': end - start + 1,
    ...(contentEncoding !== 'identity' && { 'content-encoding': contentEncoding }),
    ...(first && { 'content-range': `bytes ${start}-${end}/${size}` }),
  }
  const file = await objects.read(found)
  const bytes = file.createReadStream({ start, end: Math.max(end, start), highWaterMark: CHUNK_BYTES })
  await exchange.answerStream(first ? 206 : 200, headers, bytes)
}
