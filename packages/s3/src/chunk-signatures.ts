// Signatures inside a body: each covers the previous one, so chunks can be neither changed nor moved.

import { formatAmzDate } from './dates.ts'
import { s3Error } from './errors.ts'
import { isSignature, type SignedRequest, scopeText } from './signature.ts'

const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export interface ChunkSignatures {
  /** Both expect the SHA-256 of the signed bytes, in hex, and throw `SignatureDoesNotMatch`. */
  checkChunk(sha256: string, signature: string): void
  checkTrailer(sha256: string, signature: string): void
}

export function chunkSignatures({ authorization, signingKey }: SignedRequest): ChunkSignatures {
  const place = `${formatAmzDate(authorization.requestTime)}\n${scopeText(authorization)}`
  let previous = authorization.signature

  function check(signature: string, algorithm: string, signed: string): void {
    if (!isSignature(signature, signingKey, `${algorithm}\n${place}\n${previous}\n${signed}`)) {
      throw s3Error('SignatureDoesNotMatch', 'the signature of a chunk or of the trailer does not match its bytes')
    }
    previous = signature
  }

  return {
    checkChunk: (sha256, signature) => check(signature, 'AWS4-HMAC-SHA256-PAYLOAD', `${EMPTY_SHA256}\n${sha256}`),
    checkTrailer: (sha256, signature) => check(signature, 'AWS4-HMAC-SHA256-TRAILER', sha256),
  }
}
