// Reads the target of a request to the S3 endpoint: the bucket and the key, from the path or the host, and the query.

import { s3Error } from '@svc/s3/errors'
import { openPayload, type Payload } from '@svc/s3/payload'
import type { SignedRequest } from '@svc/s3/signature'
import { readTarget } from '@svc/s3/target'
import { bodyStream } from '@svc/service/http/body-stream'
import type { WireRequest } from '@svc/service/http/wire-request'

export interface S3Bucket {
  /** Empty for the service itself. */
  bucket: string
  /** Empty for the bucket itself. */
  key: string
  /** Decoded; the first value if a name is repeated. */
  query: ReadonlyMap<string, string>
}

export interface S3Request extends S3Bucket {
  wire: WireRequest
  /** Its headers include those that a presigned URL carries in its query. */
  signed: SignedRequest
}

const PREFIX = '/s3'
const OWN_PATH = /^(?:https?:\/\/[^/?]*)?\/s3(?:[/?]|$)/i

/** Whether a request belongs to the S3 endpoint. */
export function isS3Target(target: string, host: string | undefined, ownHost: string | null): boolean {
  return OWN_PATH.test(target) || (ownHost !== null && bucketOfHost(host, ownHost) !== null)
}

export function readS3Target(
  { target, headers }: Pick<WireRequest, 'target' | 'headers'>,
  ownHost: string | null,
): S3Bucket {
  const { path, parameters } = readTarget(target)
  const hosted = ownHost === null ? null : bucketOfHost(headers.host, ownHost)
  const rest = path.slice(hosted === null ? PREFIX.length + 1 : 1)
  const [bucket, key] = hosted ? [hosted, rest] : cutAtSlash(rest)
  const query = new Map(parameters.toReversed().map(({ name, value }) => [name, value]))
  return { bucket: decoded(bucket), key: decoded(key), query }
}

/** The bucket label before the endpoint's host; '' for the host itself, null for other hosts. */
function bucketOfHost(header: string | undefined, ownHost: string): string | null {
  const host = (header ?? '').toLowerCase().replace(/:\d*$/, '')
  if (host === ownHost) return ''
  return host.endsWith(`.${ownHost}`) ? host.slice(0, -ownHost.length - 1) : null
}

function cutAtSlash(path: string): [string, string] {
  const at = path.indexOf('/')
  return at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw s3Error('InvalidURI', 'the path is not valid percent-encoding of UTF-8')
  }
}

/** Framing makes a body longer than its bytes: with signatures, about a hundred bytes for each 8 KiB. */
const FRAMING = 1 / 16
const MIN_FRAMING = 65_536

/**
 * Opens the body lazily: until the caller reads it, nothing is read from the connection and no 100 Continue is sent.
 */
export function openBody({ wire, signed }: S3Request, maxBytes: number): Payload {
  const isFramed = signed.authorization.payload.kind === 'chunked'
  const maxWireBytes = isFramed ? maxBytes + MIN_FRAMING + Math.floor(maxBytes * FRAMING) : maxBytes
  async function* read(): AsyncGenerator<Buffer> {
    yield* bodyStream(wire, maxWireBytes)
  }
  const payload = openPayload(wire, signed, read())
  if ((payload.size ?? 0) <= maxBytes) return payload
  throw s3Error('EntityTooLarge', `the body of this request is limited to ${maxBytes} bytes`)
}

/** Reads a short body into memory and verifies it against its signature. */
export async function readSmallBody(request: S3Request, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of openBody(request, maxBytes).bytes) pieces.push(piece)
  return Buffer.concat(pieces)
}
