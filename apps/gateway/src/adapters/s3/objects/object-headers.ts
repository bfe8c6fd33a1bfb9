// The headers that a client stores with an object: its type, and headers that are returned on reads.

import { canonicalJson } from '@svc/protocol/canonical'
import { s3Error } from '@svc/s3/errors'
import { mediaTypeProblem } from '../../../files/media-type.ts'
import { MD5_KEY } from '../etags.ts'
import { refuseAcl } from '../owner.ts'

type Headers = Readonly<Record<string, string>>

export interface ObjectHeaders {
  contentType: string
  /** The value of `files.metadata`. */
  metadata: string | null
}

const DEFAULT_TYPE = 'binary/octet-stream'
const STORED_HEADERS = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'expires']
const META = 'x-amz-meta-'
/** Names and values together, as at AWS. */
const MAX_METADATA_BYTES = 2048
const MAX_HEADER_BYTES = 1024

export function readObjectHeaders(headers: Headers): ObjectHeaders {
  const contentType = headers['content-type'] || DEFAULT_TYPE
  const problem = mediaTypeProblem(contentType)
  if (problem !== null) throw s3Error('InvalidArgument', `Content-Type ${problem}`)
  const stored = { ...standardHeaders(headers), ...userMetadata(headers) }
  return { contentType, metadata: Object.keys(stored).length === 0 ? null : canonicalJson(stored) }
}

/** The headers of an object as they were sent. */
export function storedHeaders({ metadata }: { metadata: string | null }): Record<string, string> {
  const { [MD5_KEY]: _, ...stored } = JSON.parse(metadata ?? '{}')
  return stored
}

function standardHeaders(headers: Headers): Record<string, string> {
  const stored: Record<string, string> = {}
  for (const name of STORED_HEADERS) {
    const value = name === 'content-encoding' ? withoutFraming(headers[name]) : headers[name]
    if (value === undefined || value === '') continue
    if (value.length > MAX_HEADER_BYTES) {
      throw s3Error('InvalidArgument', `the header ${name} is limited to ${MAX_HEADER_BYTES} bytes`)
    }
    stored[name] = value
  }
  return stored
}

/** `aws-chunked` describes how the body was sent; it is not an encoding of the object. */
function withoutFraming(encoding: string | undefined): string | undefined {
  const codings = encoding?.split(',').map((coding) => coding.trim())
  return codings?.filter((coding) => coding.toLowerCase() !== 'aws-chunked').join(', ')
}

/** Values of a presigned URL come from its query, which can be larger than headers. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/
const NOT_IN_NAMES = /[^\w!#$%&'*+.^`|~-]/

function userMetadata(headers: Headers): Record<string, string> {
  const stored: Record<string, string> = {}
  let bytes = 0
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(META)) continue
    if (name.length === META.length || NOT_IN_NAMES.test(name) || NOT_IN_HEADERS.test(value)) {
      throw s3Error('InvalidArgument', 'the metadata contains a name or value that a header cannot carry')
    }
    bytes += name.length - META.length + value.length
    stored[name] = value
  }
  if (bytes <= MAX_METADATA_BYTES) return stored
  throw s3Error(
    'MetadataTooLarge',
    `the names and values of the metadata are limited to ${MAX_METADATA_BYTES} bytes in total`,
  )
}

/** A client that requests one of these must not believe that it was applied. */
const REFUSED = [
  'x-amz-object-lock-',
  'x-amz-server-side-encryption',
  'x-amz-copy-source-server-side-encryption-',
  'x-amz-tagging',
  'x-amz-website-redirect-location',
  'x-amz-write-offset-bytes',
]

/** Rejects headers that request unsupported features. All other headers are ignored or read elsewhere. */
export function refuseUnsupported(headers: Headers): void {
  refuseAcl(headers)
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'x-amz-tagging-directive') continue
    const isClass = name === 'x-amz-storage-class'
    const isRefused = isClass ? value !== 'STANDARD' : REFUSED.some((prefix) => name.startsWith(prefix))
    if (!isRefused) continue
    throw s3Error(
      'NotImplemented',
      `the header ${name.slice(0, 60)} requests a feature that this gateway does not support`,
      isClass ? 'omit it, or send STANDARD' : 'omit it',
    )
  }
}
