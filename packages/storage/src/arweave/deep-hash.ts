// What the signature of a data item is made over (ANS-104): a tree of SHA-384 hashes, here of a list of blobs.

import { hash } from 'node:crypto'

export interface HashedBlob {
  length: number
  /** SHA-384 of its bytes. */
  digest: Buffer
}

export function hashBlob(bytes: Uint8Array): HashedBlob {
  return { length: bytes.length, digest: sha384(bytes) }
}

export function deepHash(blobs: readonly HashedBlob[]): Buffer {
  return blobs.reduce(
    (sum, { length, digest }) => sha384(sum, sha384(sha384(Buffer.from(`blob${length}`)), digest)),
    sha384(Buffer.from(`list${blobs.length}`)),
  )
}

function sha384(...parts: Uint8Array[]): Buffer {
  return hash('sha384', Buffer.concat(parts), 'buffer')
}
