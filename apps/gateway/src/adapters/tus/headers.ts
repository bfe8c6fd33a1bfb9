// The headers of tus requests and answers.

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

/** For OPTIONS: what the gateway can do. */
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

/** The value of a header that is sent once; null without it. */
export function headerOf({ headers }: WireRequest, name: string): string | null {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : null
}

/** A whole number from 0 on; null without the header. */
export function numberOf(wire: WireRequest, name: string): number | null {
  const text = headerOf(wire, name)
  if (text === null) return null
  if (!/^(0|[1-9]\d{0,15})$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw badHeader(name, 'must be a whole number, from 0 on')
  }
  return Number(text)
}

export function isChunk(wire: WireRequest): boolean {
  const type = headerOf(wire, 'Content-Type') ?? ''
  return /^\s*application\/offset\+octet-stream\s*(;|$)/i.test(type)
}

/** What every body of bytes must be. */
export function requireChunk(wire: WireRequest): void {
  if (!isChunk(wire)) throw wrongType()
  const encoding = headerOf(wire, 'Content-Encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') throw encodingRefused()
}

/** An answer of nothing but headers. */
export function headersOnly(status: number, headers: Record<string, string>): Bytes {
  // 204 has no length of its own.
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
