// The body of a part, JSON or raw: its bytes as a stream, and the index and hashes that the client declares.

import { Readable } from 'node:stream'
import type { Body, Query } from '@svc/api/endpoint'
import { uploadPart } from '@svc/api/upload-sessions'
import { bodyStream } from '@svc/service/http/body-stream'
import { parseJsonBody } from '@svc/service/http/json-body'
import { maxValues, validator } from '@svc/service/http/validate'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { readExpectedHash } from '../../../files/name-files.ts'
import { encodingRefused, partTooLarge, partUnreadable } from '../../../files/parts/errors.ts'
import type { ArrivingPart, DeclaredPart } from '../../../files/parts/store-part.ts'
import { base64Decoder, dataScanner, MAX_REST_BYTES } from './json-data.ts'

type PartQuery = Query<typeof uploadPart>
type PartFields = Body<typeof uploadPart>

interface PartBody extends Pick<ArrivingPart, 'bytes' | 'size' | 'index' | 'hasSha256' | 'declared'> {
  /** Frees the connection, whether or not the body was read. */
  release(): void
}

export function readPartBody(wire: WireRequest, query: PartQuery, maxBytes: number): PartBody {
  const { 'content-encoding': encoding = 'identity' } = wire.headers
  if (encoding.toLowerCase() !== 'identity') throw encodingRefused()
  const type = wire.headers['content-type']
  if (type === undefined || /^\s*application\/[^;]*json/i.test(type)) return jsonPart(wire, query, maxBytes)
  if (/^\s*application\/octet-stream\s*(;|$)/i.test(type)) return rawPart(wire, query, maxBytes)
  throw partUnreadable('the Content-Type of a part must be application/json or application/octet-stream')
}

function rawPart(wire: WireRequest, { index, sha256 }: PartQuery, maxBytes: number): PartBody {
  if (index === undefined) throw new ValidationError({ loc: ['query', 'index'], msg: 'is required' })
  const declared = { index, hashes: readHash(sha256, 'query') }
  const bytes = streamUpTo(wire, maxBytes, maxBytes)
  const length = wire.headers['content-length']
  return {
    bytes,
    size: length === undefined ? null : Number(length),
    index,
    hasSha256: sha256 !== undefined,
    declared: () => declared,
    release: () => void bytes.destroy(),
  }
}

function jsonPart(wire: WireRequest, query: PartQuery, maxBytes: number): PartBody {
  const hashes = readHash(query.sha256, 'query')
  const body = streamUpTo(wire, Math.ceil(maxBytes / 3) * 4 + MAX_REST_BYTES, maxBytes)
  let declared: DeclaredPart | null = null
  async function* decoded(): AsyncGenerator<Buffer> {
    const scanner = dataScanner()
    const decoder = base64Decoder()
    let size = 0
    const counted = (bytes: Buffer | null): Buffer => {
      if (!bytes) throw new ValidationError({ loc: ['body', 'data'], msg: 'must be padded base64 without white space' })
      size += bytes.length
      if (size > maxBytes) throw partTooLarge(maxBytes)
      return bytes
    }
    for await (const chunk of body as AsyncIterable<Buffer>) {
      const data = scanner.feed(chunk)
      if (data === null) throw otherFieldsTooLarge()
      yield counted(decoder.feed(data))
    }
    const fields = readFields(wire, scanner.rest())
    // Empty unless the name `data` was written with escapes, which only the parser resolves.
    yield counted(decoder.feed(fields.data))
    yield counted(decoder.end())
    if (query.index !== undefined && query.index !== fields.index) {
      throw new ValidationError({ loc: ['query', 'index'], msg: 'differs from the index in the body' })
    }
    declared = { index: fields.index, hashes: [...hashes, ...readHash(fields.sha256, 'body')] }
  }
  return {
    bytes: Readable.from(decoded(), { objectMode: false }),
    size: null,
    index: null,
    hasSha256: true,
    declared: () => declared as DeclaredPart, // set before the stream ends
    release: () => void body.destroy(),
  }
}

const checkFields: (value: unknown) => void = validator('body', uploadPart.body)
const MAX_VALUES = maxValues(uploadPart.body)

function readFields({ headers }: WireRequest, rest: Uint8Array): PartFields {
  const fields = parseJsonBody(headers, rest, MAX_VALUES)
  checkFields(fields)
  return fields as PartFields // just checked
}

/** An empty value requests the hash. */
function readHash(text: string | undefined, where: 'query' | 'body'): string[] {
  if (text === undefined || text === '') return []
  const hash = readExpectedHash(text)
  if (!hash) throw new ValidationError({ loc: [where, 'sha256'], msg: 'must be a SHA-256 in hex' })
  return [hash]
}

/** Rejects a declared length that is too large before it reads the body. */
function streamUpTo(wire: WireRequest, maxBodyBytes: number, maxBytes: number): Readable {
  if (Number(wire.headers['content-length'] ?? 0) > maxBodyBytes) throw partTooLarge(maxBytes)
  return bodyStream(wire, maxBodyBytes)
}

function otherFieldsTooLarge(): ServiceError {
  return new ServiceError('body_too_large', `apart from data, the JSON of a part is limited to ${MAX_REST_BYTES} bytes`)
}
