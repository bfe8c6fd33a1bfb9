import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ByteRange, ObjectKey, StorageProvider } from '../src/provider.ts'

export function newId(): string {
  return randomBytes(16).toString('hex')
}

/** In pieces as long as those of a request. */
export function streamOf(bytes: Uint8Array, pieceLength = 64 * 1024): Readable {
  const count = Math.ceil(bytes.length / pieceLength)
  const pieces = Array.from({ length: count }, (_, i) => bytes.subarray(i * pieceLength, (i + 1) * pieceLength))
  return Readable.from(pieces, { objectMode: false })
}

/** Writes under a new id, or the one given. */
export async function keep(provider: StorageProvider, bytes: Uint8Array, id = newId()): Promise<ObjectKey> {
  const { ref } = await provider.write(id, streamOf(bytes), { contentType: 'image/png', size: bytes.length })
  return { id, ref }
}

export async function fetchBytes(provider: StorageProvider, key: ObjectKey, range?: ByteRange): Promise<Buffer | null> {
  const stream = await provider.read(key, range)
  return stream && buffer(stream)
}
