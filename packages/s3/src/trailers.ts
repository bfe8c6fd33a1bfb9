// What follows the last chunk of a body: the trailers that the head announced, and in signed forms their signature.

import { hash } from 'node:crypto'
import type { ChunkSignatures } from './chunk-signatures.ts'
import { type S3Error, s3Error } from './errors.ts'

const SIGNATURE = 'x-amz-trailer-signature'

/** The values of exactly the announced trailers. Without `signatures` no signature may follow. */
export function readTrailers(
  text: string,
  announced: readonly string[],
  signatures: ChunkSignatures | null,
): Map<string, string> {
  const trailers = new Map<string, string>()
  // minio-go ends lines with LF only, and adds empty lines before the signature and at the end.
  for (const line of text.split(/\r?\n/)) {
    if (line === '') continue
    const at = line.indexOf(':')
    const name = line.slice(0, Math.max(at, 0)).toLowerCase()
    const isExpected = announced.includes(name) || (signatures && name === SIGNATURE)
    if (!isExpected) throw malformed('something other than the announced trailers follows the last chunk')
    if (trailers.has(name)) throw malformed(`${name} is repeated`)
    trailers.set(name, line.slice(at + 1).replace(/^[ \t]+|[ \t]+$/g, ''))
  }
  const missing = announced.find((name) => !trailers.has(name))
  if (missing !== undefined) throw malformed(`${missing} was announced but is missing`)
  if (signatures) checkSignature(trailers, signatures)
  return trailers
}

function checkSignature(trailers: Map<string, string>, signatures: ChunkSignatures): void {
  const signature = trailers.get(SIGNATURE) ?? ''
  trailers.delete(SIGNATURE)
  if (!/^[0-9a-f]{64}$/.test(signature)) throw malformed(`${SIGNATURE} is missing or is not 64 hex digits`)
  const signed = Array.from(trailers, ([name, value]) => `${name}:${value}\n`).join('')
  signatures.checkTrailer(hash('sha256', Buffer.from(signed, 'latin1')), signature)
}

function malformed(problem: string): S3Error {
  return s3Error('MalformedTrailerError', `the trailers of the body are malformed: ${problem}`)
}
