// Bodies in the framing `aws-chunked`, as clients send them, with signatures of AWS's own signer.

import { createHash } from 'node:crypto'
import { DATE, SCOPE, signText } from './signing.ts'

const EMPTY_SHA256 = createHash('sha256').digest('hex')

interface Body {
  chunks: readonly Buffer[]
  /** Lines without their ends. */
  trailers?: readonly string[]
  /** The signature of the head; without it the chunks are not signed. */
  seed?: string
}

export async function encodeBody({ chunks, trailers = [], seed }: Body): Promise<Buffer> {
  const pieces: Buffer[] = []
  let previous = seed
  for (const chunk of [...chunks, Buffer.alloc(0)]) {
    if (previous) previous = await signChunk(previous, chunk)
    const extension = previous ? `;chunk-signature=${previous}` : ''
    pieces.push(Buffer.from(`${chunk.length.toString(16)}${extension}\r\n`), chunk)
    if (chunk.length > 0) pieces.push(Buffer.from('\r\n'))
  }
  pieces.push(...trailers.map((line) => Buffer.from(`${line}\r\n`)))
  if (previous && trailers.length > 0) {
    pieces.push(Buffer.from(`x-amz-trailer-signature:${await signTrailer(previous, trailers)}\r\n`))
  }
  return Buffer.concat([...pieces, Buffer.from('\r\n')])
}

function signChunk(previous: string, chunk: Buffer): Promise<string> {
  return signText(['AWS4-HMAC-SHA256-PAYLOAD', DATE, SCOPE, previous, EMPTY_SHA256, sha256(chunk)].join('\n'))
}

function signTrailer(previous: string, lines: readonly string[]): Promise<string> {
  const signed = lines.map((line) => `${line}\n`).join('')
  return signText(['AWS4-HMAC-SHA256-TRAILER', DATE, SCOPE, previous, sha256(Buffer.from(signed))].join('\n'))
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The body in buffers of these lengths, repeated as needed. */
export async function* arriving(bytes: Buffer, lengths: readonly number[] = [65_536]): AsyncGenerator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length] as number
    yield bytes.subarray(at, at + length)
    at += length
  }
}
