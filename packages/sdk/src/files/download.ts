// Downloads a file across broken connections. A reader that reaches the end has the recorded bytes.

import { bare, withPrefix } from '@svc/protocol/bytes'
import { sha256Stream } from '@svc/protocol/sha256'
import { growingPause } from '../calls/recovery.ts'
import { type Context, waitToRetry } from '../context.ts'
import { BytesDiffer, GatewayError, NoAnswer } from '../errors.ts'
import { isUrlInvalid } from './short-urls.ts'
import { chunksOf, type Source } from './source.ts'

export interface ReadOptions {
  /** The hash that the reader expects, with or without `sha256:`. */
  expectedHash?: string
  onProgress?: (done: number, total: number | null) => void
  signal?: AbortSignal | undefined
}

/** A file that can be read from any byte. */
export interface Opened {
  /** The recorded hash. */
  expectedHash: string | null
  read(headers: Record<string, string>): Promise<Response>
  /** Opens the file again after its URL has expired. */
  reopen(): Promise<Opened>
}

export interface Download {
  filename: string
  contentType: string
  size: number | null
  /** The expected hash of the bytes. Null if none is known. */
  contentHash: string | null
  /** Ends with an error if the bytes are wrong. Do not rely on them before the end. */
  stream: ReadableStream<Uint8Array>
  /** All bytes. Rejects if they are wrong. */
  bytes(): Promise<Uint8Array>
  /** The position of the first byte of the stream. 0 unless the reader already had some bytes. */
  start: number
  /** Continues after the bytes that the reader has, which are verified with the rest. Ends this stream. */
  resume(kept: Source): Promise<Download>
}

const MAX_FAILURES = 5

export async function download(
  context: Context,
  filename: string,
  opened: Opened,
  options: ReadOptions,
  kept: Source | null = null,
): Promise<Download> {
  const first = await begin(opened, kept?.size ?? 0)
  const { headers } = first.response
  const contentHash = hashFor(first, options)
  const before = first.start > 0 && kept ? kept.open() : null
  const chunks = verified(filename, contentHash, before, resumed(context, filename, first, options))
  const stream = streamOf(chunks, () => cancelBody(first.response))
  return {
    filename,
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    size: sizeOf(first),
    contentHash,
    stream,
    bytes: async () => new Uint8Array(await new Response(stream).arrayBuffer()),
    start: first.start,
    async resume(more) {
      await stream.cancel().catch(() => {})
      return download(context, filename, first.opened, options, more)
    },
  }
}

interface Begun {
  opened: Opened
  response: Response
  /** The first byte of the response. */
  start: number
}

/** The URL may have expired, or been revoked, since the file was opened. */
async function begin(opened: Opened, keptBytes: number): Promise<Begun> {
  const range: Record<string, string> = keptBytes > 0 ? { range: `bytes=${keptBytes}-` } : {}
  const beginAt = (response: Response) => (isRestFrom(response, keptBytes) ? keptBytes : 0)
  try {
    const response = await opened.read(range)
    return { opened, response, start: beginAt(response) }
  } catch (error) {
    if (!isUrlInvalid(error)) throw error
    const reopened = await opened.reopen()
    const response = await reopened.read(range)
    return { opened: reopened, response, start: beginAt(response) }
  }
}

function isRestFrom(response: Response, start: number): boolean {
  return response.status === 206 && Boolean(response.headers.get('content-range')?.startsWith(`bytes ${start}-`))
}

/** The size of the whole file. */
function sizeOf({ response, start }: Begun): number | null {
  const length = lengthOf(response.headers)
  return length === null ? null : start + length
}

/** Null if a proxy has compressed the bytes: the header then has another length. */
function lengthOf(headers: Headers): number | null {
  const length = headers.get('content-length')
  return length === null || headers.has('content-encoding') ? null : Number(length)
}

/** The reader's hash takes precedence over the gateway's. */
function hashFor({ opened, response }: Begun, { expectedHash }: ReadOptions): string | null {
  if (expectedHash) return withPrefix(bare(expectedHash.toLowerCase()))
  const etagHash = /^"(sha256:[0-9a-f]{64})"$/.exec(response.headers.get('etag') ?? '')?.[1]
  return opened.expectedHash ?? etagHash ?? null
}

async function* verified(
  filename: string,
  expected: string | null,
  before: AsyncIterable<Uint8Array> | null,
  chunks: AsyncIterable<Uint8Array>,
) {
  const hash = sha256Stream()
  if (before) for await (const chunk of before) hash.update(chunk)
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
  const actual = withPrefix(hash.hex())
  if (expected !== null && actual !== expected) throw new BytesDiffer(filename, expected, actual)
}

/** Yields every byte once. After a broken connection, the next one starts at the first missing byte. */
async function* resumed(
  context: Context,
  filename: string,
  first: Begun,
  { onProgress, signal }: ReadOptions,
): AsyncGenerator<Uint8Array> {
  const size = sizeOf(first)
  const etag = first.response.headers.get('etag')
  let source = first.opened
  let chunks: AsyncGenerator<Uint8Array> | null = bodyOf(first.response)
  let done = first.start

  async function next(): Promise<Uint8Array | null> {
    chunks ??= bodyOf(await resume(source, filename, done, etag))
    const { value } = await chunks.next()
    if (value) return value
    if (done >= (size ?? 0)) return null
    throw new NoAnswer(`the download of ${JSON.stringify(filename)} broke off`)
  }

  async function recover(error: unknown, failures: number): Promise<void> {
    signal?.throwIfAborted()
    const isOver = isUrlInvalid(error)
    const isFinal = error instanceof BytesDiffer || (error instanceof GatewayError && !isOver)
    if (isFinal || failures > MAX_FAILURES) throw error
    chunks = null
    if (isOver) source = await source.reopen()
    await waitToRetry(context, { failures, waitMs: growingPause(failures), error }, signal)
  }

  try {
    for (let failures = 0; ; ) {
      const chunk = await next().catch((error: unknown) => recover(error, ++failures))
      if (chunk === null) return
      if (chunk === undefined) continue
      failures = 0
      done += chunk.length
      yield chunk
      onProgress?.(done, size)
    }
  } finally {
    await chunks?.return(undefined)
  }
}

/** Does nothing if the body is being read. */
async function cancelBody({ body }: Response): Promise<void> {
  if (body && !body.locked) await body.cancel().catch(() => {})
}

async function* bodyOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body) yield* chunksOf(body)
}

/** Reads on from the first missing byte, if the file is unchanged. */
async function resume(source: Opened, filename: string, done: number, etag: string | null): Promise<Response> {
  const response = await source.read({ range: `bytes=${done}-`, ...(etag && { 'if-range': etag }) })
  if (isRestFrom(response, done) || done === 0) return response
  await response.body?.cancel()
  throw new BytesDiffer(filename, etag ?? 'the same as before', response.headers.get('etag') ?? 'different')
}

/** Not every browser has ReadableStream.from. The stream reads nothing ahead. */
export function streamOf(
  chunks: AsyncGenerator<Uint8Array>,
  closeSource: () => Promise<unknown>,
): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await chunks.return(undefined)
        // A generator that has not started ends without closing what it would have read.
        await closeSource()
      },
    },
    { highWaterMark: 0 },
  )
}
