// Bytes of a request body → JSON. Strict where readers disagree, tolerant where clients differ (ADD-11).

import type { IncomingHttpHeaders } from 'node:http'
import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { ServiceError, ValidationError } from './service-error.ts'
import { requireStorableText } from './storable-text.ts'

export const MAX_JSON_BYTES = 1_048_576

export function parseJsonBody(headers: IncomingHttpHeaders, bytes: Uint8Array): Json {
  if (bytes.length === 0) return {}
  const type = headers['content-type']
  if (type !== undefined && !/^\s*application\/[^;]*json/i.test(type)) {
    throw new ServiceError('unsupported_media_type', 'the body must be JSON', {
      hint: 'send Content-Type: application/json',
    })
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('unsupported_encoding', 'request bodies are taken uncompressed only', {
      hint: 'send the body without Content-Encoding',
    })
  }
  const value = parse(bytes)
  requireStorableText(value, ['body'])
  return value
}

function parse(bytes: Uint8Array): Json {
  try {
    return parseStrictJson(bytes, MAX_JSON_BYTES)
  } catch (error) {
    throw new ValidationError({ loc: ['body'], msg: `not valid JSON: ${(error as Error).message}` })
  }
}
