// The headers of tus requests and responses.

import { TUS_VERSION, writeTusUpload } from '@svc/api/tus'
import { Bytes } from '@svc/service/http/answer'
import type { WireRequest } from '@svc/service/http/wire-request'
import { CHECKSUM_ALGORITHMS } from './checksums.ts'
import { badHeader, encodingRefused, versionUnsupported, wrongType } from './errors.ts'

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'expiration',
  'termination',
  'checksum',
  'concatenation',
]

/** For OPTIONS: the features of the gateway. */
export function capabilities(maxBytes: number): Record<string, string> {
  return {
    'tus-resumable': TUS_VERSION,
    'tus-version': TUS_VERSION,
    'tus-extension': EXTENSIONS.join(','),
    'tus-max-size': `${maxBytes}`,
    'tus-checksum-algorithm': CHECKSUM_ALGORITHMS.join(','),
  }
}

export function requireVersion({ headers }: WireRequest): void {
  if (headers['tus-resumable'] !== TUS_VERSION) throw versionUnsupported()
}

/** The value of a header; null when it is absent or repeated. */
export function headerOf({ headers }: WireRequest, name: string): string | null {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : null
}

/** A non-negative integer; null without the header. */
export function numberOf(wire: WireRequest, name: string): number | null {
  const text = headerOf(wire, name)
  if (text === null) return null
  if (!/^(0|[1-9]\d{0,15})$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw badHeader(name, 'must be a non-negative integer')
  }
  return Number(text)
}

export function isChunk(wire: WireRequest): boolean {
  const type = headerOf(wire, 'Content-Type') ?? ''
  return /^\s*application\/offset\+octet-stream\s*(;|$)/i.test(type)
}

/** Checks the headers of a body of bytes. */
export function requireChunk(wire: WireRequest): void {
  if (!isChunk(wire)) throw wrongType()
  const encoding = headerOf(wire, 'Content-Encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') throw encodingRefused()
}

/** A response that consists of headers only. */
export function headersOnly(status: number, headers: Record<string, string>): Bytes {
  // A 204 response must not have a Content-Length.
  const length = status === 204 ? {} : { 'content-length': '0' }
  return new Bytes(status, { ...writeTusUpload.headers, ...length, ...headers }, null)
}

/** Header values are ASCII: names are percent-encoded as in a URL, with their slashes. */
export function encodedName(filename: string): string {
  return filename.split('/').map(encodeURIComponent).join('/')
}

export function httpDate(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toUTCString()
}
