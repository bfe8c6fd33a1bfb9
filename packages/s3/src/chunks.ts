// The framing of `aws-chunked` bodies: chunks with their length before them, then trailers.

import { createHash, type Hash } from 'node:crypto'
import type { ChunkSignatures } from './chunk-signatures.ts'
import { type S3Error, s3Error } from './errors.ts'

/** The line before a chunk: a length and, in signed forms, `;chunk-signature=` and 64 digits. */
const MAX_LINE = 128
const MAX_TRAILER = 4096
/** Chunks cost more than their bytes: after the first ones, their mean length must reach a minimum. */
const FREE_CHUNKS = 1024
const MIN_MEAN_CHUNK = 256
/** Shorter pieces are copied together, because every later step works piece by piece. */
const SHORT_PIECE = 4096

const LF = 0x0a
const CR = 0x0d

interface Framing {
  /** The length of all chunks together. */
  size: number
  /** Null when chunks are not signed. */
  signatures: ChunkSignatures | null
}

/** The bytes of the chunks. `takeTrailer` gets everything after the last chunk, when the body has ended. */
export async function* readChunks(
  source: AsyncIterable<Buffer>,
  framing: Framing,
  takeTrailer: (text: string) => void,
): AsyncGenerator<Buffer> {
  const parser = new ChunkParser(framing)
  for await (const buffer of source) {
    const pieces = parser.push(buffer)
    if (pieces.length > 1 && buffer.length < pieces.length * SHORT_PIECE) yield Buffer.concat(pieces)
    else yield* pieces
  }
  takeTrailer(parser.end())
}

/** The expected next element. */
type State = 'line' | 'data' | 'data end' | 'trailer'

class ChunkParser {
  readonly #framing: Framing
  #state: State = 'line'
  /** The beginning of a line, or of the trailer, whose rest is in a later buffer. */
  #text = ''
  /** The remaining bytes of the chunk. */
  #remaining = 0
  #received = 0
  #chunks = 0
  #hash: Hash | null = null
  #signature = ''

  constructor(framing: Framing) {
    this.#framing = framing
  }

  /** The bytes of chunks in a buffer. */
  push(buffer: Buffer): Buffer[] {
    const pieces: Buffer[] = []
    let at = 0
    while (at < buffer.length) {
      if (this.#state === 'data') {
        const piece = buffer.subarray(at, at + this.#remaining)
        pieces.push(piece)
        this.#take(piece)
        at += piece.length
      } else {
        at = this.#takeText(buffer, at)
      }
    }
    return pieces
  }

  #take(piece: Buffer): void {
    this.#hash?.update(piece)
    this.#received += piece.length
    this.#remaining -= piece.length
    if (this.#remaining > 0) return
    this.#checkSignature()
    this.#state = 'data end'
  }

  #takeText(buffer: Buffer, at: number): number {
    if (this.#state === 'trailer') {
      this.#text += buffer.toString('latin1', at)
      if (this.#text.length > MAX_TRAILER) throw malformed(`more than ${MAX_TRAILER} bytes follow the last chunk`)
      return buffer.length
    }
    const limit = this.#state === 'line' ? MAX_LINE : 2
    const newline = buffer.subarray(0, at + limit - this.#text.length).indexOf(LF, at)
    const end = newline < 0 ? Math.min(buffer.length, at + limit - this.#text.length) : newline + 1
    this.#text += buffer.toString('latin1', at, end)
    if (newline >= 0) this.#takeLine()
    else if (this.#text.length >= limit) throw malformed('a line is too long')
    return end
  }

  #takeLine(): void {
    const line = this.#text
    this.#text = ''
    if (line.charCodeAt(line.length - 2) !== CR) throw malformed('a line does not end with CR LF')
    if (this.#state === 'line') this.#begin(line)
    else this.#state = 'line'
  }

  /** Begins a chunk. The last one is empty. */
  #begin(line: string): void {
    const { size, signatures } = this.#framing
    const match = (signatures ? SIGNED_LINE : UNSIGNED_LINE).exec(line)
    if (!match)
      throw malformed(
        signatures
          ? 'a signed chunk begins with its length in hex and its signature'
          : 'a chunk begins with its length in hex',
      )
    this.#remaining = Number.parseInt(match[1] as string, 16)
    this.#signature = match[2] ?? ''
    this.#hash = signatures && createHash('sha256')
    if (this.#remaining > size - this.#received) {
      throw malformed('the chunks are longer than x-amz-decoded-content-length')
    }
    if (this.#remaining > 0) {
      this.#chunks++
      if (this.#chunks > FREE_CHUNKS + this.#received / MIN_MEAN_CHUNK) throw tooShort()
      this.#state = 'data'
    } else {
      this.#checkSignature()
      this.#state = 'trailer'
    }
  }

  #checkSignature(): void {
    if (this.#hash) this.#framing.signatures?.checkChunk(this.#hash.digest('hex'), this.#signature)
    this.#hash = null
  }

  /** Called at the end of the body; returns what followed the last chunk. */
  end(): string {
    if (this.#state === 'trailer' && this.#received === this.#framing.size) return this.#text
    throw s3Error('IncompleteBody', 'the body ended before the bytes that x-amz-decoded-content-length promises')
  }
}

const SIGNED_LINE = /^([0-9a-fA-F]{1,13});chunk-signature=([0-9a-f]{64})\r\n$/
const UNSIGNED_LINE = /^([0-9a-fA-F]{1,13})\r\n$/

function malformed(problem: string): S3Error {
  return s3Error('InvalidRequest', `the body is not valid aws-chunked: ${problem}`)
}

function tooShort(): S3Error {
  return s3Error(
    'InvalidChunkSizeError',
    `the chunks of the body have fewer than ${MIN_MEAN_CHUNK} bytes on average`,
    'send chunks of 64 kB or more',
  )
}
