// The payload of an age file: chunks of 64 KiB, each sealed with its number and whether it is the last.

import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { utf8 } from '@svc/protocol/bytes'
import { inParts } from '../files/source.ts'
import { damaged } from './damaged.ts'

export const NONCE_BYTES = 16
const CHUNK_BYTES = 64 * 1024
const TAG_BYTES = 16

/** The bytes that a payload takes, its nonce included. */
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
  const cipher = chunkCipher(fileKey, nonce)
  for await (const { part, index, isLast } of numbered(inParts(plaintext, CHUNK_BYTES)))
    yield cipher(index, isLast).encrypt(part)
}

/** Yields only what was verified. The input must end with the payload. */
export async function* decryptPayload(
  fileKey: Uint8Array,
  nonce: Uint8Array,
  ciphertext: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (nonce.length < NONCE_BYTES) throw damaged('it ends before its content')
  const cipher = chunkCipher(fileKey, nonce)
  let isDamaged = false
  for await (const { part, index, isLast } of numbered(inParts(ciphertext, CHUNK_BYTES + TAG_BYTES))) {
    const plaintext: Uint8Array | null = isDamaged ? null : opened(() => cipher(index, isLast).decrypt(part))
    isDamaged = plaintext === null || (plaintext.length === 0 && index > 0)
    // Read on to the end: a source that sends other bytes than were stored says so there, which is the better error.
    if (plaintext !== null && !isDamaged) yield plaintext
  }
  if (isDamaged) throw damaged('it is cut off or was changed')
}

interface Numbered {
  part: Uint8Array
  index: number
  isLast: boolean
}

async function* numbered(parts: AsyncIterable<Uint8Array>): AsyncGenerator<Numbered> {
  let index = 0
  let held: Uint8Array | null = null
  for await (const part of parts) {
    if (held) yield { part: held, index: index++, isLast: false }
    held = part
  }
  if (held) yield { part: held, index, isLast: true }
}

function opened(decrypt: () => Uint8Array): Uint8Array | null {
  try {
    return decrypt()
  } catch {
    return null
  }
}

/** The nonce of a chunk is its number in 11 bytes, then 1 for the last chunk. */
function chunkCipher(fileKey: Uint8Array, nonce: Uint8Array) {
  const key = hkdf(sha256, fileKey, nonce, utf8('payload'), 32)
  return (index: number, isLast: boolean) => {
    const chunkNonce = new Uint8Array(12)
    new DataView(chunkNonce.buffer).setBigUint64(3, BigInt(index))
    chunkNonce[11] = isLast ? 1 : 0
    return chacha20poly1305(key, chunkNonce)
  }
}
