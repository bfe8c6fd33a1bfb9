// Signatures of version 4, over a head exactly as it was sent.

import { hash, timingSafeEqual } from 'node:crypto'
import type { Authorization } from './authorization.ts'
import { formatAmzDate } from './dates.ts'
import { s3Error } from './errors.ts'
import type { S3Head } from './head.ts'
import { hmacSha256 } from './hmac.ts'
import { canonicalQuery, encodePath, type Target } from './target.ts'

/** A request whose signature was checked. */
export interface SignedRequest {
  authorization: Authorization
  /**
   * The headers of the request and, for presigned URLs, the `x-amz-*` headers in the query. Read `x-amz-*` here and not
   * in the request.
   */
  headers: Readonly<Record<string, string>>
  /** Signs chunks and trailers. */
  signingKey: Buffer
}

/** The largest accepted difference of a client's clock, in seconds. */
const MAX_SKEW = 900

/**
 * Throws the S3 error for a wrong time, signature or coverage. `now` is unix seconds. A signing key is valid for a day,
 * so a caller that checks many signatures passes a `keyOf` that caches.
 */
export function checkSignature(
  head: S3Head,
  authorization: Authorization,
  secret: string,
  now: number,
  keyOf: SigningKeyOf = deriveSigningKey,
): SignedRequest {
  const headers = readHeaders(head)
  requireTime(authorization, now)
  requireAllSigned(headers, authorization)
  const { target } = authorization
  const signingKey = keyOf(secret, authorization)
  if (!matches(head.method, target, headers, authorization, signingKey)) throw mismatch(headers)
  return { authorization, headers: withHoisted(headers, target, authorization), signingKey }
}

type Headers = Readonly<Record<string, string>>

/** Without a prototype, because a client may ask for a header named `constructor`. */
function readHeaders({ headers }: S3Head): Headers {
  const all: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all[name] = String(value)
  }
  return all
}

function requireTime({ form, scope, requestTime, expiresIn }: Authorization, now: number): void {
  if (!formatAmzDate(requestTime).startsWith(scope.date)) {
    const code = form === 'header' ? 'AuthorizationHeaderMalformed' : 'AuthorizationQueryParametersError'
    throw s3Error(code, `the date of the credential, ${scope.date}, is not the date of the request`)
  }
  if (expiresIn === null) {
    if (Math.abs(now - requestTime) <= MAX_SKEW) return
    throw s3Error(
      'RequestTimeTooSkewed',
      'the difference between the request time and the current time is too large',
      `set the clock of the client; here it is ${formatAmzDate(now)}`,
    )
  }
  if (requestTime > now + MAX_SKEW) {
    throw s3Error(
      'AccessDenied',
      'Request is not valid yet',
      `set the clock of the signer; here it is ${formatAmzDate(now)}`,
    )
  }
  if (now > requestTime + expiresIn) {
    throw s3Error('AccessDenied', 'Request has expired', 'create a new presigned URL')
  }
}

function requireAllSigned(headers: Headers, { signedHeaders }: Authorization): void {
  const unsigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !signedHeaders.includes(name))
  if (unsigned.length === 0) return
  throw s3Error(
    'AccessDenied',
    'There were headers present in the request which were not signed',
    `sign or leave out ${unsigned.join(', ').slice(0, 200)}`,
  )
}

export type SigningKeyOf = (secret: string, authorization: Pick<Authorization, 'scope'>) => Buffer

export const deriveSigningKey: SigningKeyOf = (secret, { scope }) => {
  const steps = [scope.date, scope.region, scope.service, 'aws4_request']
  return steps.reduce<Buffer>((key, step) => hmacSha256(key, step), Buffer.from(`AWS4${secret}`))
}

/** The scope as it is signed, and as chunk signatures repeat it. */
export function scopeText({ scope }: Pick<Authorization, 'scope'>): string {
  return `${scope.date}/${scope.region}/${scope.service}/aws4_request`
}

/** Compares in constant time. */
export function isSignature(signature: string, key: Buffer, stringToSign: string): boolean {
  return timingSafeEqual(Buffer.from(signature, 'hex'), hmacSha256(key, stringToSign))
}

function matches(
  method: string,
  target: Target,
  headers: Headers,
  authorization: Authorization,
  signingKey: Buffer,
): boolean {
  const { signature, signedHeaders, payload, requestTime } = authorization
  const tried = new Set<string>()
  for (const lines of spellings(target, headers, authorization)) {
    if (tried.has(lines)) continue
    tried.add(lines)
    const request = [method, lines, signedHeaders.join(';'), payload.text].join('\n')
    // Node reads each byte of a header as one character.
    const digest = hash('sha256', Buffer.from(request, 'latin1'))
    const text = ['AWS4-HMAC-SHA256', formatAmzDate(requestTime), scopeText(authorization), digest].join('\n')
    if (isSignature(signature, signingKey, text)) return true
  }
  return false
}

/**
 * Some clients sign another spelling of a request than they send: the path in full percent-encoding where they send `(`
 * or `%c3`, and repeated headers with `,` where Node and proxies join them with `, `. All spellings mean the same
 * request.
 */
function* spellings({ path, parameters }: Target, headers: Headers, authorization: Authorization): Generator<string> {
  const values = authorization.signedHeaders.map((name) => [name, fold(headers[name] ?? '')] as const)
  const joined = values.map(([name, value]) => [name, value.replaceAll(', ', ',')] as const)
  const isInQuery = authorization.form === 'query'
  const query = canonicalQuery(parameters.filter(({ name }) => !isInQuery || name !== 'X-Amz-Signature'))
  for (const spell of [String, encodePath]) {
    const lines = `${spell(path)}\n${query}`
    yield `${lines}\n${headerBlock(values)}`
    yield `${lines}\n${headerBlock(joined)}`
  }
}

function headerBlock(values: readonly (readonly [name: string, value: string])[]): string {
  return values.map(([name, value]) => `${name}:${value}\n`).join('')
}

function fold(value: string): string {
  return value.replace(/\s+/g, ' ').trim()
}

/** Presigned URLs carry headers in the query, so that their users need not send any. */
function withHoisted(headers: Headers, { parameters }: Target, { form }: Authorization): Headers {
  if (form === 'header') return headers
  const all: Record<string, string> = Object.create(null)
  for (const { name, value } of parameters) {
    if (/^x-amz-/i.test(name)) all[name.toLowerCase()] ??= asHeader(value)
  }
  return Object.assign(all, headers)
}

/** The form in which Node reads headers: each byte is one character. */
function asHeader(value: string): string {
  return /^[ -~]*$/.test(value) ? value : Buffer.from(value).toString('latin1')
}

function mismatch({ host = '' }: Headers) {
  return s3Error(
    'SignatureDoesNotMatch',
    'the signature does not match the received request, or the secret is wrong',
    `check the secret; a proxy must not change the path, the query or the Host, which arrived as ${host.slice(0, 200)}`,
  )
}
