// Signatures of version 4, written once more from their description, as clients make them.

import { createHash, createHmac } from 'node:crypto'
import type { S3Head } from '@svc/s3/head'

export const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'
export const ACCESS_KEY_ID = 'AKIAIOSFODNN7EXAMPLE'
/** 24 May 2013, as in the examples of AWS's documentation. */
export const NOW = 1_369_353_600
const DATE = '20130524T000000Z'
const SCOPE = '20130524/us-east-1/s3/aws4_request'
const EMPTY_SHA256 = sha256('')

export interface Unsigned {
  method: string
  /** In percent-encoding. */
  path: string
  /** Decoded. */
  query: readonly (readonly [name: string, value: string])[]
  headers: Readonly<Record<string, string>>
}

/** By the header Authorization. */
export function signHead({ method, path, query, headers }: Unsigned): S3Head {
  const all = { host: 'bucket.example', 'x-amz-date': DATE, 'x-amz-content-sha256': EMPTY_SHA256, ...headers }
  const names = Object.keys(all).sort().join(';')
  const signature = signatureOf(method, path, query, all, all['x-amz-content-sha256'])
  const authorization = `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY_ID}/${SCOPE}, SignedHeaders=${names}, Signature=${signature}`
  return { method, target: targetOf(path, query), headers: { ...all, authorization } }
}

/** By the query. */
export function presign({ method, path, query, headers }: Unsigned): S3Head {
  const all = { host: 'bucket.example', ...headers }
  const parameters = [
    ...query,
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', `${ACCESS_KEY_ID}/${SCOPE}`],
    ['X-Amz-Date', DATE],
    ['X-Amz-Expires', '3600'],
    ['X-Amz-SignedHeaders', Object.keys(all).sort().join(';')],
  ] as const
  const signature = signatureOf(method, path, parameters, all, 'UNSIGNED-PAYLOAD')
  return { method, target: targetOf(path, [...parameters, ['X-Amz-Signature', signature]]), headers: all }
}

function signText(text: string): string {
  const key = SCOPE.split('/').reduce<Buffer | string>((key, step) => hmac(key, step), `AWS4${SECRET}`)
  return hmac(key, text).toString('hex')
}

/** A body in signed chunks; `seed` is the signature of the head. */
export function signChunks(chunks: readonly Buffer[], trailers: readonly string[], seed: string): Buffer {
  let previous = seed
  const sign = (kind: string, ...lines: string[]) => {
    previous = signText([`AWS4-HMAC-SHA256-${kind}`, DATE, SCOPE, previous, ...lines].join('\n'))
    return previous
  }
  const framed = [...chunks, Buffer.alloc(0)].flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)};chunk-signature=${sign('PAYLOAD', EMPTY_SHA256, sha256(chunk))}\r\n`),
    chunk,
    Buffer.from(chunk.length > 0 ? '\r\n' : ''),
  ])
  const lines = trailers.map((line) => `${line}\n`).join('')
  const signed = trailers.length > 0 ? [...trailers, `x-amz-trailer-signature:${sign('TRAILER', sha256(lines))}`] : []
  return Buffer.concat([...framed, Buffer.from(signed.map((line) => `${line}\r\n`).join('')), Buffer.from('\r\n')])
}

function signatureOf(
  method: string,
  path: string,
  query: Unsigned['query'],
  headers: Readonly<Record<string, string>>,
  payload: string,
): string {
  const names = Object.keys(headers).sort()
  const lines = names.map((name) => `${name}:${headers[name]!.trim().replace(/ +/g, ' ')}\n`).join('')
  const canonical = [method, path, pairsOf(query).sort().join('&'), lines, names.join(';'), payload].join('\n')
  return signText(['AWS4-HMAC-SHA256', DATE, SCOPE, sha256(canonical)].join('\n'))
}

function targetOf(path: string, query: Unsigned['query']): string {
  return query.length === 0 ? path : `${path}?${pairsOf(query).join('&')}`
}

function pairsOf(query: Unsigned['query']): string[] {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return query.map(([name, value]) => `${encode(name)}=${encode(value)}`)
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
