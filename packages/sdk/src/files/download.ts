// Reads a file from end to end over connections that break. A reader that reaches the end has the recorded bytes.

import { bare, withPrefix } from '@svc/protocol/bytes'
import { sha256Stream } from '@svc/protocol/sha256'
import { growingPause } from '../calls/recovery.ts'
import { type Context, waitToRetry } from '../context.ts'
import { BytesDiffer, GatewayError, isGatewayError, NoAnswer } from '../errors.ts'
import { chunksOf } from './source.ts'

export interface ReadOptions {
  /** What the bytes must hash to, with or without `sha256:`, where the reader knows it from somewhere else. */
  expectedHash?: string
  onProgress?: (done: number, total: number | null) => void
  signal?: AbortSignal | undefined
}

/** A file that can be read from any byte on. */
export interface Opened {
  /** What is recorded of it. */
  expectedHash: string | null
  read(headers: Record<string, string>): Promise<Response>
  /** The same file, when what opened it has run out. */
  again(): Promise<Opened>
}

export interface Download {
  filename: string
  contentType: string
  size: number | null
  /** What the bytes are held against; null where nothing is known of them. */
  contentHash: string | null
  /** Ends with an error where the bytes are not the right ones: until then they must not be relied upon. */
  stream: ReadableStream<Uint8Array>
  /** All bytes, if they are the right ones. */
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

/** What was opened a while ago may have run out. */
async function begin(opened: Opened): Promise<Begun> {
  try {
    return { opened, response: await opened.read({}) }
  } catch (error) {
    if (!isGatewayError(error, 'SHORT_URL_EXPIRED')) throw error
    const again = await opened.again()
    return { opened: again, response: await again.read({}) }
  }
}

/** Null also where something on the way has compressed them: the length is not theirs then. */
function lengthOf(headers: Headers): number | null {
  const length = headers.get('content-length')
  return length === null || headers.has('content-encoding') ? null : Number(length)
}

/** What the reader knows counts before what the gateway says. */
function hashFor({ opened, response }: Begun, { expectedHash }: ReadOptions): string | null {
  if (expectedHash) return withPrefix(bare(expectedHash.toLowerCase()))
  const told = /^"(sha256:[0-9a-f]{64})"$/.exec(response.headers.get('etag') ?? '')?.[1]
  return opened.expectedHash ?? told ?? null
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

/** Every byte once: where a line breaks, the next one begins with the byte that is missing. */
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
    const hasRunOut = isGatewayError(error, 'SHORT_URL_EXPIRED')
    const isFinal = error instanceof BytesDiffer || (error instanceof GatewayError && !hasRunOut)
    if (isFinal || failures > MAX_FAILURES) throw error
    chunks = null
    if (hasRunOut) source = await source.again()
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

/** From the first byte that is missing, and of the same bytes. */
async function resume(source: Opened, filename: string, done: number, etag: string | null): Promise<Response> {
  const response = await source.read({ range: `bytes=${done}-`, ...(etag && { 'if-range': etag }) })
  const isRest = response.status === 206 && response.headers.get('content-range')?.startsWith(`bytes ${done}-`)
  if (isRest || done === 0) return response
  await response.body?.cancel()
  throw new BytesDiffer(filename, etag ?? 'what they were', response.headers.get('etag') ?? 'others by now')
}

/** Not every browser can make a stream of a generator by itself. Nothing is read before it is wanted. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
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
