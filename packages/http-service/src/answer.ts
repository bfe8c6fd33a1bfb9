// What operations may answer with, where it is more than a body.

import type { Readable } from 'node:stream'

/** A response other than the endpoint's first declared status, or with headers of its own. */
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

/** A body that is JSON text already, as it was stored: sent as it is. */
export class JsonText<B> {
  readonly text: string
  /** Only for the compiler: what the text says. */
  declare readonly of: B

  constructor(text: string) {
    this.text = text
  }
}

/** JSON text that comes piece by piece, for what should never be in memory as a whole. */
export class JsonStream<B> {
  readonly pieces: AsyncIterable<string>
  declare readonly of: B

  constructor(pieces: AsyncIterable<string>) {
    this.pieces = pieces
  }
}

/** Bytes as they are; null where only the headers are wanted. */
export class Bytes {
  readonly status: number
  readonly headers: Record<string, string>
  readonly stream: Readable | null

  constructor(status: number, headers: Record<string, string>, stream: Readable | null) {
    this.status = status
    this.headers = headers
    this.stream = stream
  }
}
