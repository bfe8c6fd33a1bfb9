// Requests signed by the library that AWS's own SDK uses.

import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { readAuthorization } from '../src/authorization.ts'
import type { S3Head } from '../src/head.ts'
import { checkSignature, type SignedRequest } from '../src/signature.ts'

export const ACCESS_KEY_ID = 'AKIAIOSFODNN7EXAMPLE'
const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
/** 24 May 2013, as in the examples of AWS's documentation. */
export const NOW = 1_369_353_600
export const DATE = '20130524T000000Z'
export const SCOPE = '20130524/us-east-1/s3/aws4_request'

class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(key?: unknown) {
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key as Buffer)
  }

  update(data: Uint8Array): void {
    this.#hash.update(data)
  }

  reset(): never {
    throw new Error('the signer begins a new hash each time')
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}

export interface Unsigned {
  method?: string
  path?: string
  query?: Record<string, string | string[]>
  headers?: Record<string, string>
  sessionToken?: string
  region?: string
  /** Unix seconds. */
  time?: number
}

const EMPTY_HASH = createHash('sha256').digest('hex')

export async function sign(request: Unsigned): Promise<S3Head> {
  const signed = await signerOf(request).sign(
    requestOf({ ...request, headers: { 'x-amz-content-sha256': EMPTY_HASH, ...request.headers } }),
    { signingDate: dateOf(request) },
  )
  return headOf(signed)
}

export async function presign(request: Unsigned, expiresIn = 3600): Promise<S3Head> {
  const headers = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...request.headers }
  return headOf(
    await signerOf(request).presign(requestOf({ ...request, headers }), { signingDate: dateOf(request), expiresIn }),
  )
}

/** A signature by the request's signing key, as in chunks and trailers. */
export function signText(text: string): Promise<string> {
  return signerOf({}).sign(text, { signingDate: dateOf({}) })
}

export function check(head: S3Head, now = NOW, secret = SECRET): SignedRequest {
  return checkSignature(head, readAuthorization(head), secret, now)
}

function signerOf({ sessionToken, region = 'us-east-1' }: Unsigned): SignatureV4 {
  const credentials = { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET, ...(sessionToken && { sessionToken }) }
  return new SignatureV4({
    credentials,
    region,
    service: 's3',
    sha256: Sha256,
    uriEscapePath: false,
    applyChecksum: false,
  })
}

function dateOf({ time = NOW }: Unsigned): Date {
  return new Date(time * 1000)
}

type SmithyRequest = Parameters<SignatureV4['presign']>[0]

function requestOf({ method = 'GET', path = '/', query = {}, headers = {} }: Unsigned): SmithyRequest {
  const hostname = 'examplebucket.s3.amazonaws.com'
  return { method, protocol: 'https:', hostname, path, query, headers: { host: hostname, ...headers } }
}

/**
 * The request as the server sees it: names in lower case, each byte of a value as one character, and the query as text.
 */
function headOf({ method, path, query = {}, headers }: SmithyRequest): S3Head {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value ?? ''].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
  )
  return {
    method,
    target: pairs.length > 0 ? `${path}?${pairs.join('&')}` : path,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Buffer.from(value).toString('latin1')]),
    ),
  }
}
