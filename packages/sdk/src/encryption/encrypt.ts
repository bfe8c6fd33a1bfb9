// Encrypts sources of uploads. The ciphertext is derived from the key, the filename and the content, so that any holder
// of the key can resume an upload and skip an unchanged file. To anyone else it reveals nothing.

import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { concat, fromHex, utf8, withPrefix } from '@svc/protocol/bytes'
import { sha256Hex, sha256Stream } from '@svc/protocol/sha256'
import { randomBytes } from '../context.ts'
import { inParts, memorySource, readWhole, type Source, type SourceLike, sourceOf } from '../files/source.ts'
import { SMALL_FILE_BYTES } from '../files/upload.ts'
import { encodeHeader } from './header.ts'
import type { Derive, EncryptionKey } from './keys.ts'
import { encryptPayload, NONCE_BYTES, payloadSize } from './payload.ts'
import { FILE_KEY_BYTES } from './recipients.ts'

/**
 * The source encrypted, as the file of this name. A source that can be read again is read once to derive its key, once
 * to hash the ciphertext, and then for the upload.
 */
export async function encrypted(
  bytes: SourceLike,
  filename: string,
  key: EncryptionKey,
  { signal }: { signal?: AbortSignal } = {},
): Promise<Source> {
  const source = sourceOf(bytes)
  if (source.size !== null && source.size <= SMALL_FILE_BYTES) return encryptedInMemory(source, filename, key)
  if (source.isRepeatable) return encryptedRepeatably(source, filename, key, signal)
  const { open, headerBytes } = await sealerOf(key, derivationFrom(randomBytes(32)))
  return { size: sizeOf(source, headerBytes), isRepeatable: false, open: () => open(source.open()) }
}

/** Reads the source once, so that a file that changes meanwhile does no harm. */
async function encryptedInMemory(source: Source, filename: string, key: EncryptionKey): Promise<Source> {
  const plaintext = await readWhole(source)
  const { open } = await sealerOf(key, await derivationOf(key, filename, sha256Hex(plaintext)))
  const pieces: Uint8Array[] = []
  for await (const piece of open(memorySource(plaintext).open())) pieces.push(piece)
  const ciphertext = concat(...pieces)
  return { ...memorySource(ciphertext), contentHash: withPrefix(sha256Hex(ciphertext)) }
}

/** Ciphertext is compared in pieces of this size before it is sent. */
const SEGMENT_BYTES = SMALL_FILE_BYTES

async function encryptedRepeatably(
  source: Source,
  filename: string,
  key: EncryptionKey,
  signal: AbortSignal | undefined,
): Promise<Source> {
  const read = () => abortable(source.open(), signal)
  const plaintextHash = await hashOf(read())
  const { open, headerBytes } = await sealerOf(key, await derivationOf(key, filename, plaintextHash))
  const digests: string[] = []
  const reread = sha256Stream()
  const total = sha256Stream()
  for await (const segment of inParts(open(hashed(read(), reread)), SEGMENT_BYTES)) {
    digests.push(sha256Hex(segment))
    total.update(segment)
  }
  if (reread.hex() !== plaintextHash) throw changed()

  /** Changed content with the same key would reveal what both contents share, so it must not be sent. */
  async function* verified(): AsyncGenerator<Uint8Array> {
    let index = 0
    for await (const segment of inParts(open(read()), SEGMENT_BYTES)) {
      if (sha256Hex(segment) !== digests[index++]) throw changed()
      yield segment
    }
    if (index !== digests.length) throw changed()
  }

  const size = sizeOf(source, headerBytes)
  return { size, isRepeatable: true, contentHash: withPrefix(total.hex()), open: verified }
}

function changed(): Error {
  return new Error('the file changed while it was read; no changed bytes were sent')
}

async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = sha256Stream()
  for await (const chunk of chunks) hash.update(chunk)
  return hash.hex()
}

async function* abortable(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined) {
  for await (const chunk of chunks) {
    signal?.throwIfAborted()
    yield chunk
  }
}

async function* hashed(chunks: AsyncIterable<Uint8Array>, hash: ReturnType<typeof sha256Stream>) {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}

function sizeOf({ size }: Source, headerBytes: number): number | null {
  return size === null ? null : headerBytes + payloadSize(size)
}

/** Derives all random values of an age file from its content, name and key. */
async function derivationOf(key: EncryptionKey, filename: string, plaintextHash: string): Promise<Derive> {
  const info = utf8(JSON.stringify([filename, ...key.recipients]))
  return derivationFrom(hkdf(sha256, await key.secret(), fromHex(plaintextHash) ?? undefined, info, 32))
}

function derivationFrom(seed: Uint8Array): Derive {
  return (purpose, length) => hkdf(sha256, seed, undefined, utf8(purpose), length)
}

async function sealerOf(key: EncryptionKey, derive: Derive) {
  const fileKey = derive('file key', FILE_KEY_BYTES)
  const nonce = derive('nonce', NONCE_BYTES)
  const header = encodeHeader(fileKey, await key.wrap(fileKey, derive))
  async function* open(plaintext: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    yield header
    yield* encryptPayload(fileKey, nonce, plaintext)
  }
  return { open, headerBytes: header.length }
}
