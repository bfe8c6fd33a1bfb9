// Uploads through the JSON API: in one multipart request, or in a session that can be resumed.

import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises'
import { buffer, text } from 'node:stream/consumers'
import { keyedMutex } from '@svc/concurrency/locks'
import type { Exchange } from './exchange.ts'
import { refusePrecondition, wireObject } from './json-api.ts'
import { crc32cOf, type GcsObject, type NewObject, type Objects } from './objects.ts'

/** Every chunk but the last must be a multiple of this. */
const GRAIN = 256 * 1024

interface Session {
  about: Omit<NewObject, 'crc32c'>
  /** The CRC32C that the client declares with the object's metadata, if any. */
  declared: string | undefined
  mustBeNew: boolean
  path: string
  /** Bytes kept so far. */
  size: number
  done: GcsObject | null
}

export interface Uploads {
  begin(exchange: Exchange): Promise<void>
  proceed(exchange: Exchange): Promise<void>
  /** How many are under way. */
  count(): number
}

export function createUploads(objects: Objects, bucket: string, origin: string): Uploads {
  const sessions = new Map<string, Session>()
  const oneAtATime = keyedMutex()

  async function finish(exchange: Exchange, { path, size, about, mustBeNew, declared }: Omit<Session, 'done'>) {
    const crc32c = await crc32cOf(path)
    const expected = declared ?? crc32cIn(exchange.headers['x-goog-hash']) ?? crc32c
    const kept = expected === crc32c ? await objects.keep(path, size, { ...about, crc32c }, mustBeNew) : null
    if (!kept) await rm(path)
    if (kept) exchange.answer(200, wireObject(kept, bucket))
    else if (expected === crc32c) refusePrecondition(exchange)
    else exchange.refuse(400, 'invalid', `Provided CRC32C "${expected}" doesn't match calculated CRC32C "${crc32c}".`)
    return kept
  }

  async function receiveWhole(exchange: Exchange, given: Given) {
    const [metadata, bytes] = splitParts(await buffer(exchange.body), exchange.headers['content-type'] ?? '')
    const path = objects.newFile()
    await writeFile(path, bytes)
    await finish(exchange, { path, size: bytes.length, ...aboutObject(given, JSON.parse(`${metadata}`)) })
  }

  async function beginSession(exchange: Exchange, given: Given) {
    const metadata = JSON.parse((await text(exchange.body)) || '{}')
    const contentType = exchange.headers['x-upload-content-type']
    const requested = aboutObject(given, { ...(contentType && { contentType }), ...metadata })
    if (requested.mustBeNew && objects.find(requested.about.name)) return refusePrecondition(exchange)
    const path = objects.newFile()
    await writeFile(path, '')
    const id = randomBytes(24).toString('base64url')
    sessions.set(id, { ...requested, path, size: 0, done: null })
    const query = new URLSearchParams({ uploadType: 'resumable', name: requested.about.name, upload_id: id })
    exchange.answer(200, '', {
      location: `${origin}/upload/storage/v1/b/${bucket}/o?${query}`,
      'x-guploader-uploadid': id,
    })
  }

  async function receiveChunk(exchange: Exchange, session: Session) {
    if (session.done) return exchange.answer(200, wireObject(session.done, bucket))
    const range = readContentRange(exchange.headers['content-range'])
    if (range.start !== null) {
      if (range.start > session.size) return exchange.refuse(400, 'invalid', 'Invalid request: a chunk is missing.')
      const isWhole = await append(exchange, session, range)
      if (!isWhole) return
      if (range.total === 'at the end') range.total = session.size
    }
    if (range.total === session.size && exchange.keepOfChunk === Number.POSITIVE_INFINITY) {
      session.done = await finish(exchange, session)
      return
    }
    exchange.answer(308, '', session.size > 0 ? { range: `bytes=0-${session.size - 1}` } : {})
  }

  return {
    count: () => [...sessions.values()].filter(({ done }) => !done).length,
    async begin(exchange) {
      const { searchParams, pathname } = exchange.url
      if (!pathname.startsWith(`/upload/storage/v1/b/${bucket}/`)) {
        return exchange.refuse(404, 'notFound', 'The specified bucket does not exist.')
      }
      const given = { name: searchParams.get('name') ?? '', mustBeNew: searchParams.get('ifGenerationMatch') === '0' }
      await (searchParams.get('uploadType') === 'multipart' ? receiveWhole : beginSession)(exchange, given)
    },
    async proceed(exchange) {
      const id = exchange.url.searchParams.get('upload_id') ?? ''
      const session = sessions.get(id)
      if (!session) return exchange.answer(404, 'Not Found')
      if (exchange.expireSession !== null) {
        sessions.delete(id)
        await rm(session.path, { force: true })
        return exchange.answer(exchange.expireSession)
      }
      // A request of a session waits for the one before it.
      await oneAtATime(id, async () => {
        if (exchange.method === 'PUT') return receiveChunk(exchange, session)
        sessions.delete(id)
        await rm(session.path, { force: true })
        exchange.answer(499)
      })
    },
  }
}

interface Given {
  name: string
  mustBeNew: boolean
}

interface Metadata {
  name?: string
  contentType?: string
  metadata?: Record<string, string>
  crc32c?: string
}

function aboutObject({ name, mustBeNew }: Given, given: Metadata): Pick<Session, 'about' | 'mustBeNew' | 'declared'> {
  const { contentType = 'application/octet-stream', metadata = {}, crc32c: declared } = given
  return { about: { name: name || (given.name ?? ''), contentType, metadata }, mustBeNew, declared }
}

/** The header lists hashes: `crc32c=…,md5=…`. */
function crc32cIn(header: string | string[] | undefined): string | undefined {
  return /(?:^|,)\s*crc32c=([^,]+)/.exec(`${header ?? ''}`)?.[1]
}

/** The two parts of a multipart/related body. */
function splitParts(body: Buffer, contentType: string): [metadata: Buffer, bytes: Buffer] {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1] ?? ''
  const border = `\r\n--${boundary}`
  const firstEnds = body.indexOf(border)
  const lastEnds = body.lastIndexOf(`${border}--`)
  const content = (from: number, to: number) => body.subarray(body.indexOf('\r\n\r\n', from) + 4, to)
  return [content(0, firstEnds), content(firstEnds, lastEnds)]
}

interface ContentRange {
  /** Null when the request has no bytes and only asks how much was kept. */
  start: number | null
  total: number | 'unknown' | 'at the end'
}

function readContentRange(header = 'bytes 0-*/*'): ContentRange {
  const [, start, end, total] = /^bytes (?:(\d+)-(\d+|\*)|\*)\/(\d+|\*)$/.exec(header) ?? []
  if (total !== '*') return { start: start === undefined ? null : Number(start), total: Number(total) }
  return { start: start === undefined ? null : Number(start), total: end === '*' ? 'at the end' : 'unknown' }
}

/** Appends the body; false when it broke off. */
async function append(exchange: Exchange, session: Session, { start, total }: ContentRange): Promise<boolean> {
  const limit = session.size + exchange.keepOfChunk
  const file = await open(session.path, 'r+')
  let at = start ?? 0
  try {
    for await (const chunk of exchange.body) at = await write(file, chunk, at)
    session.size = total === 'unknown' || at > limit ? grain(Math.min(at, limit)) : at
    return true
  } catch {
    session.size = Math.max(session.size, grain(at))
    return false
  } finally {
    await file.close()
  }
}

async function write(file: FileHandle, chunk: Buffer, at: number): Promise<number> {
  const { bytesWritten } = await file.write(chunk, 0, chunk.length, at)
  return bytesWritten < chunk.length ? write(file, chunk.subarray(bytesWritten), at + bytesWritten) : at + bytesWritten
}

function grain(size: number): number {
  return size - (size % GRAIN)
}
