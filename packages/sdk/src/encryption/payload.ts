// The payload of an age file: chunks of 64 KiB, each sealed with its number and whether it is the last.

import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8 } from '@svc/protocol/bytes'
import { inParts } from '../files/source.ts'
import { damaged } from './damaged.ts'
import { seal, TAG_BYTES, unseal } from './primitives.ts'

export const NONCE_BYTES = 16
const CHUNK_BYTES = 64 * 1024

/** The length of a payload, including its nonce. */
export function payloadSize(plaintextBytes: number): number {
  const chunks = Math.max(1, Math.ceil(plaintextBytes / CHUNK_BYTES))
  return NONCE_BYTES + plaintextBytes + chunks * TAG_BYTES
}

/** Yields the nonce, then the chunks. */
export async function* encryptPayload(
  fileKey: Uint8Array,
  nonce: Uint8Array,
  plaintext: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield nonce
  const key = payloadKey(fileKey, nonce)
  for await (const { part, index, isLast } of numbered(inParts(plaintext, CHUNK_BYTES)))
    yield seal(key, chunkNonce(index, isLast), part)
}

/** Yields only verified bytes. The input must end with the payload. */
export async function* decryptPayload(
  fileKey: Uint8Array,
  nonce: Uint8Array,
  ciphertext: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (nonce.length < NONCE_BYTES) throw damaged('it ends before its content')
  const key = payloadKey(fileKey, nonce)
  let isDamaged = false
  for await (const { part, index, isLast } of numbered(inParts(ciphertext, CHUNK_BYTES + TAG_BYTES))) {
    const plaintext: Uint8Array | null = isDamaged ? null : unseal(key, chunkNonce(index, isLast), part)
    isDamaged = plaintext === null || (plaintext.length === 0 && index > 0)
    // Read on to the end: if the source sends wrong bytes, its own error at the end is more precise.
    if (plaintext !== null && !isDamaged) yield plaintext
  }
  if (isDamaged) throw damaged('it is truncated or was changed')
}

interface Numbered {
  part: Uint8Array
  index: number
  isLast: boolean
}

async function* numbered(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Numbered> {
  let index = 0
  let previous: Uint8Array | null = null
  for await (const part of parts) {
    if (previous) yield { part: previous, index: index++, isLast: false }
    previous = part
  }
  if (previous) yield { part: previous, index, isLast: true }
}

function payloadKey(fileKey: Uint8Array, nonce: Uint8Array): Uint8Array {
  return hkdf(sha256, fileKey, nonce, utf8('payload'), 32)
}

/** The number of the chunk in 11 bytes, then 1 for the last chunk. */
function chunkNonce(index: number, isLast: boolean): Uint8Array {
  const nonce = new Uint8Array(12)
  new DataView(nonce.buffer).setBigUint64(3, BigInt(index))
  nonce[11] = isLast ? 1 : 0
  return nonce
}
