import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { lru } from '@svc/concurrency/caches'
import { type Limit, limit } from '@svc/concurrency/locks'
import { singleFlight } from '@svc/concurrency/sharing'
import { withPrefix } from '@svc/protocol/bytes'
import type { Providers } from '@svc/storage/open-providers'
import type { ObjectKey, StorageProvider } from '@svc/storage/provider'
import { type HashThread, plainHashThread, type ThreadHash } from './hash-thread.ts'

/** Computed from the stored bytes, never taken from a client. */
export interface Reading {
  size: number
  contentHash: string
}

/** Null when the object does not exist. */
export type HashObject = (provider: string, key: ObjectKey) => Promise<Reading | null>

/** Per provider. All share one hashing thread, so a higher limit would only open more files. */
const MAX_CONCURRENT = 8
const CACHED_READINGS = 10_000
/** Up to this size, hashing is faster than passing the bytes to a thread. */
const SMALL_BYTES = 512 * 1024

/** Reads the object on each call. Each provider has its own limit, so that a slow one does not delay the others. */
export function createObjectReader(providers: Pick<Providers, 'named'>, thread = plainHashThread()): HashObject {
  const limits = new Map<string, Limit>()
  return (provider, key) => {
    const limited = limits.get(provider) ?? limit(MAX_CONCURRENT)
    limits.set(provider, limited)
    return limited(() => readWhole(providers.named(provider), key, thread))
  }
}

/**
 * Reads an object once for all callers (T-10). Objects never change, so readings are cached: repeated confirmations of
 * bytes with a wrong hash read nothing again.
 */
export function createObjectHasher(readObject: HashObject): HashObject {
  const share = singleFlight<Reading | null>()
  const readings = lru<string, Reading>(CACHED_READINGS)
  return async (provider, key) => {
    const known = readings.get(key.id)
    if (known) return known
    const reading = await share(key.id, () => readObject(provider, key))
    if (reading) readings.set(key.id, reading)
    return reading
  }
}

async function readWhole(provider: StorageProvider, key: ObjectKey, thread: HashThread<null>): Promise<Reading | null> {
  const stream = await provider.read(key)
  if (!stream) return null
  if (stream.readInto && (stream.size ?? 0) > SMALL_BYTES) return readLargeFile(stream, stream.readInto, thread)
  const pieces: Buffer[] = []
  let size = 0
  let large: ThreadHash | null = null
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      size += piece.length
      pieces.push(piece)
      if (size <= SMALL_BYTES) continue
      large ??= thread.begin(null)
      for (const piece of pieces.splice(0)) large.write(piece)
      await large.drained()
    }
    return { size, contentHash: withPrefix(large ? await large.end() : hexOf(pieces)) }
  } finally {
    large?.close()
  }
}

/** Reads the file while the thread hashes the previous chunk. */
async function readLargeFile(
  stream: Readable,
  readInto: (piece: Buffer) => Promise<number>,
  thread: HashThread<null>,
): Promise<Reading> {
  // The file was read to its end, or reading failed; errors on close do not matter.
  stream.on('error', () => {})
  const hash = thread.begin(null)
  try {
    let size = 0
    for (let length = await hash.writeFrom(readInto); length > 0; length = await hash.writeFrom(readInto)) {
      size += length
      await hash.drained()
    }
    return { size, contentHash: withPrefix(await hash.end()) }
  } finally {
    hash.close()
    stream.destroy()
  }
}

function hexOf(pieces: readonly Buffer[]): string {
  const sha256 = createHash('sha256')
  for (const piece of pieces) sha256.update(piece)
  return sha256.digest('hex')
}
