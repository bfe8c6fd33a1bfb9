// The body of a part in either form, as it arrives: what is told about the part, and its bytes.

import { Readable } from 'node:stream'
import type { Body, Query } from '@svc/api/endpoint'
import { uploadPart } from '@svc/api/upload-sessions'
import { bodyStream } from '@svc/http-service/body-stream'
import { parseJsonBody } from '@svc/http-service/json-body'
import { ServiceError } from '@svc/http-service/service-error'
import { validator } from '@svc/http-service/validate'
import type { WireRequest } from '@svc/http-service/wire-request'
import { invalidUpload } from '../../files/errors.ts'
import { readExpectedHash } from '../../files/name-files.ts'
import { base64Decoder } from './base64-stream.ts'
import { dataScanner, MAX_REST_BYTES } from './data-scanner.ts'
import { encodingRefused, partTooLarge, partUnreadable } from './session-errors.ts'

type PartQuery = Query<typeof uploadPart>
type PartFields = Body<typeof uploadPart>

interface Told {
  index: number
  /** What the bytes must hash to, with prefix. */
  hashes: string[]
}

export interface PartBody {
  bytes: Readable
  /** How many there will be, where that is known. */
  size: number | null
  /** To be asked when the bytes are at their end: JSON may say it last. */
  told(): Told
  /** Lets the request pass, read or not. */
  release(): void
}

export function readPartBody(wire: WireRequest, query: PartQuery, maxBytes: number): PartBody {
  const { 'content-encoding': encoding = 'identity', 'transfer-encoding': coding = 'chunked' } = wire.headers
  if (encoding.toLowerCase() !== 'identity' || coding.toLowerCase() !== 'chunked') throw encodingRefused()
  const type = wire.headers['content-type']
  if (type === undefined || /^\s*application\/[^;]*json/i.test(type)) return jsonPart(wire, query, maxBytes)
  if (/^\s*application\/octet-stream\s*(;|$)/i.test(type)) return rawPart(wire, query, maxBytes)
  throw partUnreadable('a part is JSON or application/octet-stream')
}

function rawPart(wire: WireRequest, { index, sha256 }: PartQuery, maxBytes: number): PartBody {
  if (index === undefined) throw invalidUpload({ loc: ['query', 'index'], msg: 'is required' })
  const told = { index, hashes: readHash(sha256, 'query') }
  const bytes = streamUpTo(wire, maxBytes, maxBytes)
  const length = wire.headers['content-length']
  return {
    bytes,
    size: length === undefined ? null : Number(length),
    told: () => told,
    release: () => void bytes.destroy(),
  }
}

function jsonPart(wire: WireRequest, query: PartQuery, maxBytes: number): PartBody {
  const hashes = readHash(query.sha256, 'query')
  const body = streamUpTo(wire, Math.ceil(maxBytes / 3) * 4 + MAX_REST_BYTES, maxBytes)
  let told: Told | null = null
  async function* decoded(): AsyncGenerator<Buffer> {
    const scanner = dataScanner()
    const decoder = base64Decoder()
    let size = 0
    const counted = (bytes: Buffer | null): Buffer => {
      if (!bytes) throw invalidUpload({ loc: ['body', 'data'], msg: 'must be base64, padded, without white space' })
      size += bytes.length
      if (size > maxBytes) throw partTooLarge(maxBytes)
      return bytes
    }
    for await (const piece of body as AsyncIterable<Buffer>) {
      const data = scanner.feed(piece)
      if (data === null) throw tooMuchElse()
      yield counted(decoder.feed(data))
    }
    const fields = readFields(wire, scanner.rest())
    // Nothing, unless its name was written in a way that only a whole reader understands.
    yield counted(decoder.feed(fields.data))
    yield counted(decoder.end())
    if (query.index !== undefined && query.index !== fields.index) {
      throw invalidUpload({ loc: ['query', 'index'], msg: 'differs from the index in the body' })
    }
    told = { index: fields.index, hashes: [...hashes, ...readHash(fields.sha256, 'body')] }
  }
  return {
    bytes: Readable.from(decoded(), { objectMode: false }),
    size: null,
    told: () => told as Told, // set before the last byte was given
    release: () => void body.destroy(),
  }
}

const checkFields: (value: unknown) => void = validator('body', uploadPart.body)

function readFields({ headers }: WireRequest, rest: Uint8Array): PartFields {
  const fields = parseJsonBody(headers, rest)
  checkFields(fields)
  return fields as PartFields // just checked
}

function readHash(text: string | undefined, where: 'query' | 'body'): string[] {
  if (text === undefined) return []
  const hash = readExpectedHash(text)
  if (!hash) throw invalidUpload({ loc: [where, 'sha256'], msg: 'must be a SHA-256 in hex' })
  return [hash]
}

/** A body that is too large already by what it says of itself is not begun with. */
function streamUpTo(wire: WireRequest, maxBodyBytes: number, maxBytes: number): Readable {
  if (Number(wire.headers['content-length'] ?? 0) > maxBodyBytes) throw partTooLarge(maxBytes)
  return bodyStream(wire, maxBodyBytes)
}

function tooMuchElse(): ServiceError {
  return new ServiceError('body_too_large', `beside data, a part may have ${MAX_REST_BYTES} bytes of JSON`)
}
