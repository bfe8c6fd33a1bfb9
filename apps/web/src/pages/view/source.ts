// Reads the bytes of a file through its link, in ranges. Neither the uploader nor the gateway is trusted; the ETag
// shows when the file is replaced meanwhile.

import { sha256Hex, sha256Stream } from '@svc/protocol/sha256'
import { urlOf } from '../../address.ts'

/** Enough bytes to detect the kind of a file, and to show most texts completely. */
const FIRST_BYTES = 256 * 1024
/** The number of retries of an interrupted transfer before the page reports it. */
const MAX_RETRIES = 2

export type ProblemKind =
  | 'link'
  | 'file'
  | 'bytes'
  | 'frozen'
  | 'takenDown'
  | 'changed'
  | 'busy'
  | 'offline'
  | 'interrupted'
  | 'other'

export class ReadFailed extends Error {
  override name = 'ReadFailed'
  readonly kind: ProblemKind

  constructor(kind: ProblemKind, message: string) {
    super(message)
    this.kind = kind
  }
}

export interface OpenedFile {
  url: string
  filename: string
  size: number
  /** The type that the uploader declared; lower case, without parameters. */
  type: string
  /** The recorded SHA-256 in hex; null if the gateway has not recorded it yet. */
  hash: string | null
  etag: string | null
  modifiedAt: Date | null
  /** Its first bytes. */
  head: Uint8Array
}

/** `id` is a receipt id, the id of a rotated public link, or the id of an upload. */
export function publicFileUrl(id: string, filename: string): string {
  return urlOf(`/v1/r/${encodeURIComponent(id)}/f/${encodedName(filename)}`)
}

export function encodedName(filename: string): string {
  return filename.split('/').map(encodeURIComponent).join('/')
}

export async function openFile(url: string, filename: string, signal: AbortSignal): Promise<OpenedFile> {
  const response = await request(url, { range: `bytes=0-${FIRST_BYTES - 1}` }, signal)
  // An empty file has no range; its metadata needs another request.
  if (response.status === 416 && response.headers.get('content-range') === 'bytes */0')
    return factsOf(url, filename, await request(url, {}, signal, 'HEAD'), new Uint8Array())
  if (!response.ok) throw await problemOf(response)
  return factsOf(url, filename, response, await firstBytes(response, FIRST_BYTES))
}

function factsOf(url: string, filename: string, { headers }: Response, head: Uint8Array): OpenedFile {
  const [, total] = /\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? []
  const etag = headers.get('etag')
  const modified = Date.parse(headers.get('last-modified') ?? '')
  return {
    url,
    filename,
    head,
    size: Number(total ?? headers.get('content-length') ?? head.length),
    type: (headers.get('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase(),
    etag,
    hash: /^"sha256:([0-9a-f]{64})"$/.exec(etag ?? '')?.[1] ?? null,
    modifiedAt: Number.isNaN(modified) ? null : new Date(modified),
  }
}

export interface Reading {
  signal: AbortSignal
  onProgress?: (bytes: number) => void
}

/** The bytes from `start` to before `end`. */
export async function readBytes(file: OpenedFile, start: number, end: number, reading: Reading): Promise<Uint8Array> {
  const bytes = new Uint8Array(end - start)
  let filled = 0
  if (start < file.head.length) {
    const known = file.head.subarray(start, end)
    bytes.set(known)
    filled = known.length
  }
  for await (const piece of pieces(file, start + filled, end, reading.signal)) {
    bytes.set(piece, filled)
    filled += piece.length
    reading.onProgress?.(filled)
  }
  return bytes
}

/** Hashes a file without storing it. */
export async function hashOf(file: OpenedFile, { signal, onProgress }: Reading): Promise<string> {
  const hash = sha256Stream()
  hash.update(file.head)
  let done = file.head.length
  for await (const piece of pieces(file, done, file.size, signal)) {
    hash.update(piece)
    done += piece.length
    onProgress?.(done)
  }
  return hash.hex()
}

/** Hashes without `crypto.subtle`, which browsers lack on pages without TLS. */
export async function hashBytes(bytes: Uint8Array): Promise<string> {
  if (!globalThis.crypto.subtle) return sha256Hex(bytes)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Reads in pieces; an interrupted transfer resumes where it stopped. */
async function* pieces(file: OpenedFile, start: number, end: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let at = start
  let retries = 0
  while (at < end) {
    try {
      for await (const piece of onePass(file, at, end, signal)) {
        at += piece.length
        retries = 0
        yield piece
      }
      if (at < end) throw new ReadFailed('interrupted', 'the answer ended early')
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ReadFailed && error.kind !== 'interrupted' && error.kind !== 'offline') throw error
      if (retries++ === MAX_RETRIES) throw new ReadFailed('interrupted', (error as Error).message)
    }
  }
}

async function* onePass(file: OpenedFile, start: number, end: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const headers = { range: `bytes=${start}-${end - 1}`, ...(file.etag && { 'if-match': file.etag }) }
  const response = await request(file.url, headers, signal)
  if (!response.ok) throw await problemOf(response)
  if (response.status !== 206) throw new ReadFailed('other', 'the gateway did not answer with the requested part')
  const reader = response.body!.getReader()
  let left = end - start
  while (left > 0) {
    const { value, done } = await reader.read()
    if (done) return
    const piece = value.subarray(0, left)
    left -= piece.length
    yield piece
  }
  await reader.cancel()
}

async function request(url: string, headers: Record<string, string>, signal: AbortSignal, method = 'GET') {
  try {
    return await fetch(url, { method, headers, signal, credentials: 'omit' })
  } catch (error) {
    signal.throwIfAborted()
    throw new ReadFailed('offline', (error as Error).message)
  }
}

/** Reads at most `max` bytes of an answer that may be too long. */
async function firstBytes(response: Response, max: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(max)
  const reader = response.body!.getReader()
  let filled = 0
  try {
    while (filled < max) {
      const { value, done } = await reader.read()
      if (done) break
      const piece = value.subarray(0, max - filled)
      bytes.set(piece, filled)
      filled += piece.length
    }
    await reader.cancel()
  } catch (error) {
    throw new ReadFailed('interrupted', (error as Error).message)
  }
  return bytes.slice(0, filled)
}

const PROBLEMS: Readonly<Record<string, ProblemKind>> = {
  SHARE_NOT_FOUND: 'link',
  receipt_not_found: 'link',
  locker_not_found: 'link',
  receipt_is_renewal: 'link',
  validation_error: 'link',
  FILE_NOT_FOUND: 'file',
  CONTENT_NOT_FOUND: 'bytes',
  LOCKER_FROZEN: 'frozen',
  LOCKER_TAKEN_DOWN: 'takenDown',
  PRECONDITION_FAILED: 'changed',
  RANGE_NOT_SATISFIABLE: 'changed',
  RATE_LIMITED: 'busy',
  STORAGE_UNAVAILABLE: 'busy',
}

async function problemOf(response: Response): Promise<ReadFailed> {
  const body = (await response.json().catch(() => null)) as { error?: unknown; message?: unknown } | null
  const kind = PROBLEMS[String(body?.error)] ?? 'other'
  return new ReadFailed(kind, typeof body?.message === 'string' ? body.message : `${response.status}`)
}
