// Downloads a file across broken connections. A reader that reaches the end has the recorded bytes.

import { bare, withPrefix } from '@svc/protocol/bytes'
import { sha256Stream } from '@svc/protocol/sha256'
import { growingPause } from '../calls/recovery.ts'
import { type Context, waitToRetry } from '../context.ts'
import { BytesDiffer, GatewayError, NoAnswer } from '../errors.ts'
import { isUrlOver } from './short-urls.ts'
import { chunksOf } from './source.ts'

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
  /** Opens the same file again after its URL has expired. */
  again(): Promise<Opened>
}

export interface Download {
  filename: string
  contentType: string
  size: number | null
  /** The hash that the bytes are checked against; null if none is known. */
  contentHash: string | null
  /** Ends with an error if the bytes are wrong. Do not rely on them before the end. */
  stream: ReadableStream<Uint8Array>
  /** All bytes; rejects if they are wrong. */
  bytes(): Promise<Uint8Array>
}

const MAX_FAILURES = 5

export async function download(
  context: Context,
  filename: string,
  opened: Opened,
  options: ReadOptions,
): Promise<Download> {
  const first = await begin(opened)
  const { headers } = first.response
  const contentHash = hashFor(first, options)
  const chunks = verified(filename, contentHash, resumed(context, filename, first, options))
  const stream = streamOf(chunks)
  return {
    filename,
    contentType: headers.get('content-type') ?? 'application/octet-stream',
    size: lengthOf(headers),
    contentHash,
    stream,
    bytes: async () => new Uint8Array(await new Response(stream).arrayBuffer()),
  }
}

interface Begun {
  opened: Opened
  response: Response
}

/** The URL may have expired, or been revoked, since the file was opened. */
async function begin(opened: Opened): Promise<Begun> {
  try {
    return { opened, response: await opened.read({}) }
  } catch (error) {
    if (!isUrlOver(error)) throw error
    const again = await opened.again()
    return { opened: again, response: await again.read({}) }
  }
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

async function* verified(filename: string, expected: string | null, chunks: AsyncIterable<Uint8Array>) {
  const hash = sha256Stream()
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
  const { headers } = first.response
  const size = lengthOf(headers)
  const etag = headers.get('etag')
  let source = first.opened
  let chunks: AsyncGenerator<Uint8Array> | null = bodyOf(first.response)
  let done = 0

  async function next(): Promise<Uint8Array | null> {
    chunks ??= bodyOf(await resume(source, filename, done, etag))
    const { value } = await chunks.next()
    if (value) return value
    if (done >= (size ?? 0)) return null
    throw new NoAnswer(`the bytes of ${JSON.stringify(filename)} broke off`)
  }

  async function recover(error: unknown, failures: number): Promise<void> {
    signal?.throwIfAborted()
    const isOver = isUrlOver(error)
    const isFinal = error instanceof BytesDiffer || (error instanceof GatewayError && !isOver)
    if (isFinal || failures > MAX_FAILURES) throw error
    chunks = null
    if (isOver) source = await source.again()
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

async function* bodyOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body) yield* chunksOf(body)
}

/** Reads on from the first missing byte, if the file is unchanged. */
async function resume(source: Opened, filename: string, done: number, etag: string | null): Promise<Response> {
  const response = await source.read({ range: `bytes=${done}-`, ...(etag && { 'if-range': etag }) })
  const isRest = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${done}-`)
  if (isRest || done === 0) return response
  await response.body?.cancel()
  throw new BytesDiffer(filename, etag ?? 'what they were', response.headers.get('etag') ?? 'others by now')
}

/** Not every browser has ReadableStream.from. The stream reads nothing ahead. */
export function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  )
}
