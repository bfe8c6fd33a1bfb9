// Results that operations may return besides a plain body.

import type { FileStream } from './byte-streams.ts'

/** A response with another status than the endpoint's first, or with headers of its own. */
export class Answer<B> {
  readonly status: number
  readonly body: B
  readonly headers: Record<string, string> | undefined

  constructor(status: number, body: B, headers?: Record<string, string>) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** A body that is already JSON text, and is sent unchanged. */
export class JsonText<B> {
  readonly text: string
  /** For the compiler only: the type of the parsed text. */
  declare readonly of: B

  constructor(text: string) {
    this.text = text
  }
}

/** JSON text in pieces, for bodies that should never be in memory as a whole. */
export class JsonStream<B> {
  readonly pieces: AsyncIterable<string>
  declare readonly of: B

  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces
  }
}

/** A stream of bytes, or all bytes at once, possibly as text; null when only the headers are sent. */
export class Bytes {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: FileStream | Uint8Array | string | null
  /** Called when the connection ends before the body does, with the approximate number of unsent bytes. */
  onBrokenOff: ((unsent: number) => void) | null = null

  constructor(status: number, headers: Record<string, string>, body: FileStream | Uint8Array | string | null) {
    this.status = status
    this.headers = headers
    this.body = body
  }
}
