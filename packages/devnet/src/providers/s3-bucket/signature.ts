// AWS signature version 4, as a store checks it: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../http/exchange.ts'

export interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

interface SignableRequest {
  method: string
  url: URL
  headers: IncomingHttpHeaders
}

/** What is signed besides the request itself. */
interface Terms {
  date: string
  region: string
  signedHeaders: string[]
  /** `YYYYMMDDTHHMMSSZ`. */
  time: string
  /** The hash of the body, or `UNSIGNED-PAYLOAD`. */
  payload: string
}

/** A request's signature as the request states it. */
interface Claim extends Terms {
  accessKeyId: string
  signature: string
  /** Only in signed URLs. */
  expiresInSeconds: number | null
}

/** The headers that authorize a request; the body is not signed. */
export function signedHeaders(method: string, url: URL, credentials: Credentials, now: Date): Record<string, string> {
  const { accessKeyId, secretAccessKey, region } = credentials
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const headers = { host: url.host, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', 'x-amz-date': time }
  const terms = {
    date: time.slice(0, 8),
    region,
    time,
    payload: 'UNSIGNED-PAYLOAD',
    signedHeaders: Object.keys(headers),
  }
  const signature = signatureOf({ method, url, headers }, terms, secretAccessKey)
  const credential = `${accessKeyId}/${terms.date}/${region}/s3/aws4_request`
  const signed = `SignedHeaders=${terms.signedHeaders.join(';')}, Signature=${signature}`
  return { ...headers, authorization: `AWS4-HMAC-SHA256 Credential=${credential}, ${signed}` }
}

const SKEW_MS = 15 * 60 * 1000

/** Throws a `Refusal` when the signature is wrong, out of time, or does not cover all required headers. */
export function requireSignature(request: SignableRequest, credentials: Credentials, now: number): void {
  const claim = readClaim(request)
  const time = Date.parse(claim.time.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'))
  if (claim.expiresInSeconds === null && !(Math.abs(now - time) <= SKEW_MS))
    throw new Refusal(403, 'RequestTimeTooSkewed')
  if (claim.expiresInSeconds !== null && !(now < time + claim.expiresInSeconds * 1000))
    throw new Refusal(403, 'AccessDenied')
  if (claim.accessKeyId !== credentials.accessKeyId) throw new Refusal(403, 'InvalidAccessKeyId')
  if (claim.region !== credentials.region) throw new Refusal(400, 'AuthorizationHeaderMalformed')
  const mustBeSigned = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))]
  const expected = Buffer.from(signatureOf(request, claim, credentials.secretAccessKey))
  const given = Buffer.from(claim.signature)
  const isRight = given.length === expected.length && timingSafeEqual(given, expected)
  if (!isRight || !mustBeSigned.every((name) => claim.signedHeaders.includes(name))) {
    throw new Refusal(403, 'SignatureDoesNotMatch')
  }
}

function readClaim({ url, headers }: SignableRequest): Claim {
  const query = url.searchParams
  const isInUrl = query.has('X-Amz-Signature')
  const [, credential, signedHeaders, signature] = isInUrl
    ? [null, query.get('X-Amz-Credential'), query.get('X-Amz-SignedHeaders'), query.get('X-Amz-Signature')]
    : (/^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=(\w+)$/.exec(
        headers.authorization ?? '',
      ) ?? [])
  const [accessKeyId, date, region, service] = (credential ?? '').split('/')
  if (!accessKeyId || !date || !region || service !== 's3' || !signedHeaders || !signature) {
    throw new Refusal(403, 'AccessDenied')
  }
  return {
    accessKeyId,
    date,
    region,
    signedHeaders: signedHeaders.split(';'),
    signature,
    time: (isInUrl ? query.get('X-Amz-Date') : headers['x-amz-date']?.toString()) ?? '',
    expiresInSeconds: isInUrl ? Number(query.get('X-Amz-Expires')) : null,
    payload: headers['x-amz-content-sha256']?.toString() ?? 'UNSIGNED-PAYLOAD',
  }
}

function signatureOf({ method, url, headers }: SignableRequest, terms: Terms, secret: string): string {
  const query = [...url.searchParams]
    .filter(([name]) => name !== 'X-Amz-Signature')
    .map((pair) => pair.map(encode).join('='))
    .sort()
  const values = terms.signedHeaders.map((name) => `${name}:${headers[name]?.toString().trim().replace(/ +/g, ' ')}\n`)
  const canonical = [
    method,
    url.pathname,
    query.join('&'),
    values.join(''),
    terms.signedHeaders.join(';'),
    terms.payload,
  ]
  const scope = `${terms.date}/${terms.region}/s3/aws4_request`
  const toSign = [
    'AWS4-HMAC-SHA256',
    terms.time,
    scope,
    createHash('sha256').update(canonical.join('\n')).digest('hex'),
  ]
  const key = scope.split('/').reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`)
  return hmac(key, toSign.join('\n')).toString('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
