import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { lru } from '@svc/concurrency/caches'
import { type Limit, limit } from '@svc/concurrency/locks'
import { singleFlight } from '@svc/concurrency/sharing'
import { withPrefix } from '@svc/protocol/bytes'
import type { Providers } from '@svc/storage/open-providers'
import type { ObjectKey, StorageProvider } from '@svc/storage/provider'
import { createHashThread, type HashThread, type ThreadHash } from './hash-thread.ts'

/** What an object's bytes are: read from it, not believed. */
export interface Reading {
  size: number
  contentHash: string
}

/** Null when there is no such object. */
export type HashObject = (provider: string, key: ObjectKey) => Promise<Reading | null>

/** From one provider. They share one thread: more at once would only mean more open files. */
const AT_ONCE = 8
const READINGS_KEPT = 10_000
/** So much is hashed in less time than the way to another thread takes. */
const SMALL_BYTES = 512 * 1024

/** Reads an object each time it is asked about. A provider that is slow keeps nobody waiting but for itself. */
export function createObjectReader(providers: Pick<Providers, 'named'>): HashObject {
  const turns = new Map<string, Limit>()
  const thread = createHashThread()
  return (provider, key) => {
    const inTurn = turns.get(provider) ?? limit(AT_ONCE)
    turns.set(provider, inTurn)
    return inTurn(() => readWhole(providers.named(provider), key, thread))
  }
}

/**
 * Has an object read once, however many ask (T-10). Objects never change, so a reading stays true: who asks again and
 * again about bytes that are not the promised ones does not have them read again.
 */
export function createObjectHasher(readObject: HashObject): HashObject {
  const share = singleFlight<Reading | null>()
  const readings = lru<string, Reading>(READINGS_KEPT)
  return async (provider, key) => {
    const known = readings.get(key.id)
    if (known) return known
    const reading = await share(key.id, () => readObject(provider, key))
    if (reading) readings.set(key.id, reading)
    return reading
  }
}

async function readWhole(provider: StorageProvider, key: ObjectKey, thread: HashThread): Promise<Reading | null> {
  const stream = await provider.read(key)
  if (!stream) return null
  const pieces: Buffer[] = []
  let size = 0
  let large: ThreadHash | null = null
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      size += piece.length
      pieces.push(piece)
      if (size <= SMALL_BYTES) continue
      large ??= thread.begin()
      for (const piece of pieces.splice(0)) await large.take(piece)
    }
    return { size, contentHash: withPrefix(large ? await large.end() : hexOf(pieces)) }
  } finally {
    large?.close()
  }
}

function hexOf(pieces: readonly Buffer[]): string {
  const sha256 = createHash('sha256')
  for (const piece of pieces) sha256.update(piece)
  return sha256.digest('hex')
}

/** Hashes what somebody else reads from a stream; to be asked when that is at its end. */
export function hashAlong(stream: Readable): () => string {
  const sha256 = createHash('sha256')
  // Paused, so that to listen is not to begin: who reads sets the pace.
  stream.pause().on('data', (chunk: Buffer) => sha256.update(chunk))
  return () => withPrefix(sha256.digest('hex'))
}
