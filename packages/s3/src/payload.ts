// Bodies: their bytes without framing, checked against everything that the client stated about them.

import { fromBase64 } from '@svc/protocol/bytes'
import {
  algorithmOf,
  type ChecksumAlgorithm,
  type Checksums,
  type RunningChecksum,
  readChecksums,
  requireChecksum,
  startChecksum,
} from './checksums.ts'
import { chunkSignatures } from './chunk-signatures.ts'
import { readChunks } from './chunks.ts'
import { type S3Error, s3Error } from './errors.ts'
import type { S3Head } from './head.ts'
import type { SignedRequest } from './signature.ts'
import { readTarget } from './target.ts'
import { readTrailers } from './trailers.ts'

export interface Payload {
  /** The number of bytes; null when the client did not state it. */
  size: number | null
  /** Throws an `S3Error` at the end when a hash, a signature, a trailer or a checksum is wrong. Read it once. */
  bytes: AsyncIterable<Buffer>
  /** The client's checksums, all of which matched. Call it after the end of `bytes`. */
  checksums(): Checksums
}

/** The claims that the bytes must match. */
interface Claims {
  contentSha256: string | null
  md5: string | null
  checksums: Checksums
  /** The checksum that follows the bytes. */
  trailer: ChecksumAlgorithm | null
}

/** Throws immediately when the head contradicts itself. */
export function openPayload(head: S3Head, signed: SignedRequest, source: AsyncIterable<Buffer>): Payload {
  const claims = readClaims(head, signed)
  const size = readSize(head, signed)
  const digests = startDigests(claims)
  const verified: Checksums = {}

  async function* read(): AsyncGenerator<Buffer> {
    for await (const piece of withoutFraming(signed, source, size, claims)) {
      for (const digest of digests.values()) digest.update(piece)
      yield piece
    }
    Object.assign(verified, verify(claims, digests, signed))
  }

  return { size, bytes: read(), checksums: () => verified }
}

function readClaims(head: S3Head, { headers, authorization }: SignedRequest): Claims {
  const { payload } = authorization
  const contentSha256 = payload.kind === 'hashed' ? payload.sha256 : null
  const md5 = readMd5(headers['content-md5'])
  if (isAboutParts(head)) return { contentSha256, md5, checksums: {}, trailer: null }
  const checksums = readChecksums(headers)
  const trailer = readAnnounced(headers, payload.kind === 'chunked' && payload.hasTrailer)
  const [algorithm] = [...Object.keys(checksums), ...(trailer ? [trailer] : [])]
  if (trailer && algorithm !== trailer)
    throw s3Error('InvalidRequest', 'send a checksum as a header or as a trailer, not as both')
  const named = headers['x-amz-sdk-checksum-algorithm']?.toLowerCase()
  if (named !== undefined && named !== algorithm) {
    throw s3Error('InvalidRequest', 'x-amz-sdk-checksum-algorithm names a checksum that the request does not have')
  }
  return { contentSha256, md5, checksums, trailer }
}

/** A checksum in the head of CompleteMultipartUpload is for the object, not for the body. */
function isAboutParts({ method, target }: S3Head): boolean {
  return method === 'POST' && readTarget(target).parameters.some(({ name }) => name === 'uploadId')
}

function readMd5(header: string | undefined): string | null {
  if (header === undefined) return null
  if (fromBase64(header)?.length === 16) return header
  throw s3Error('InvalidDigest', 'Content-MD5 is not the base64 of 16 bytes')
}

function readAnnounced(headers: SignedRequest['headers'], hasTrailer: boolean): ChecksumAlgorithm | null {
  const name = headers['x-amz-trailer']?.trim().toLowerCase()
  if ((name !== undefined) !== hasTrailer) {
    throw s3Error(
      'InvalidRequest',
      'send x-amz-trailer with an x-amz-content-sha256 that ends with -TRAILER, or neither',
    )
  }
  if (name === undefined) return null
  const algorithm = algorithmOf(name)
  if (algorithm) return algorithm
  throw s3Error('InvalidRequest', 'the only supported trailer is one x-amz-checksum- header')
}

function readSize({ headers: sent }: S3Head, { headers, authorization }: SignedRequest): number | null {
  const isChunked = authorization.payload.kind === 'chunked'
  const length = isChunked ? headers['x-amz-decoded-content-length'] : sent['content-length']
  if (length === undefined && isChunked) {
    throw s3Error('MissingContentLength', 'a body in chunks needs x-amz-decoded-content-length')
  }
  if (length === undefined) return null
  if (/^\d{1,15}$/.test(length)) return Number(length)
  throw s3Error('InvalidArgument', 'the length of the body is not a number')
}

function startDigests({ contentSha256, md5, checksums, trailer }: Claims): Map<string, RunningChecksum> {
  const names = new Set(Object.keys(checksums) as (ChecksumAlgorithm | 'md5')[])
  if (trailer) names.add(trailer)
  if (contentSha256) names.add('sha256')
  if (md5) names.add('md5')
  return new Map(Array.from(names, (name) => [name, startChecksum(name)]))
}

/** Adds the checksum of the trailer to the claims. */
async function* withoutFraming(
  signed: SignedRequest,
  source: AsyncIterable<Buffer>,
  size: number | null,
  claims: Claims,
): AsyncGenerator<Buffer> {
  const { payload } = signed.authorization
  if (payload.kind !== 'chunked') {
    yield* source
    return
  }
  const signatures = payload.isSigned ? chunkSignatures(signed) : null
  yield* readChunks(source, { size: size ?? 0, signatures }, (text) => {
    const { trailer } = claims
    const name = `x-amz-checksum-${trailer}`
    const trailers = readTrailers(text, trailer ? [name] : [], payload.hasTrailer ? signatures : null)
    if (trailer) claims.checksums[trailer] = requireChecksum(name, trailer, trailers.get(name) ?? '')
  })
}

function verify(claims: Claims, digests: Map<string, RunningChecksum>, { authorization }: SignedRequest): Checksums {
  const found = new Map(Array.from(digests, ([name, digest]) => [name, digest.digest()]))
  if (claims.md5 && found.get('md5') !== claims.md5) throw wrongChecksum('Content-MD5')
  for (const [algorithm, value] of Object.entries(claims.checksums)) {
    if (found.get(algorithm) === value) continue
    const isOfNothing = value === startChecksum(algorithm as ChecksumAlgorithm).digest()
    throw isOfNothing && authorization.form === 'query' ? emptyChecksum(algorithm) : wrongChecksum(algorithm)
  }
  const { contentSha256 } = claims
  if (contentSha256 && found.get('sha256') !== Buffer.from(contentSha256, 'hex').toString('base64')) {
    throw s3Error('XAmzContentSHA256Mismatch', 'x-amz-content-sha256 is not the SHA-256 of the body')
  }
  return claims.checksums
}

function wrongChecksum(name: string): S3Error {
  return s3Error('BadDigest', `the ${name} that you sent does not match the received bytes`, 'send the bytes again')
}

/** Some clients presign a PUT before they know its bytes, and put the checksum of an empty body into the URL. */
function emptyChecksum(algorithm: string): S3Error {
  return s3Error(
    'BadDigest',
    `the presigned URL has the ${algorithm} of an empty body, but the body is not empty`,
    'set requestChecksumCalculation to WHEN_REQUIRED in the client that signs the URL',
  )
}
