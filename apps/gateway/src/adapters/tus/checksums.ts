// The checksum extension: an algorithm and the base64 digest of the bytes of one request.

import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { ServiceError } from '@svc/service/service-error'
import { badHeader } from './errors.ts'

interface Digest {
  update(chunk: Uint8Array): void
  /** Base64. */
  digest(): string
}

const DIGESTS = {
  md5: () => hashed('md5'),
  sha1: () => hashed('sha1'),
  sha256: () => hashed('sha256'),
  crc32: crcDigest,
}

export const CHECKSUM_ALGORITHMS = Object.keys(DIGESTS)

export interface Checksum extends Digest {
  expected: string
}

export function readChecksum(header: string | null): Checksum | null {
  if (header === null) return null
  const [, algorithm, expected] = /^(\S{1,20}) ([A-Za-z0-9+/]{1,100}={0,2})$/.exec(header) ?? []
  if (algorithm === undefined || expected === undefined) {
    throw badHeader('Upload-Checksum', 'must be an algorithm and a base64 digest')
  }
  if (!Object.hasOwn(DIGESTS, algorithm)) throw unknownAlgorithm()
  return { expected, ...DIGESTS[algorithm as keyof typeof DIGESTS]() }
}

function hashed(algorithm: string): Digest {
  const hash = createHash(algorithm)
  return { update: (chunk) => void hash.update(chunk), digest: () => hash.digest('base64') }
}

function crcDigest(): Digest {
  let crc = 0
  return {
    update(chunk) {
      crc = crc32(chunk, crc)
    },
    digest() {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(crc)
      return bytes.toString('base64')
    },
  }
}

function unknownAlgorithm(): ServiceError {
  const names = CHECKSUM_ALGORITHMS.join(', ')
  return new ServiceError('malformed_request', `Upload-Checksum supports ${names}`, {
    hint: `use ${names}, or send expected_hash in Upload-Metadata`,
  })
}
