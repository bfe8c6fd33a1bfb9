// Requests to the S3 endpoint, signed like those of clients (signature version 4).

import { hash } from 'node:crypto'
import type { S3Credentials } from '@svc/api/s3-credentials'
import { formatAmzDate } from '@svc/s3/dates'
import { hmacSha256 } from '@svc/s3/hmac'
import { canonicalQuery, readTarget } from '@svc/s3/target'
import type { Draft } from '../draft.ts'
import type { Sent } from '../exchange.ts'

type Keys = Pick<S3Credentials, 'access_key_id' | 'secret_access_key' | 'session_token'>

/** The headers of a request with the signing headers; all of them are signed. */
export function signedHeaders(
  { access_key_id, secret_access_key, session_token }: Keys,
  host: string,
  now: () => number,
  { method, target }: Omit<Sent, 'headers'>,
  headers: Draft['headers'],
): Record<string, string> {
  const time = formatAmzDate(Math.floor(now() / 1000))
  const all: Record<string, string> = {
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    host,
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
    'x-amz-date': time,
    'x-amz-security-token': session_token,
  }
  const names = Object.keys(all).sort()
  const block = names.map((name) => `${name}:${all[name]?.replace(/\s+/g, ' ').trim()}\n`).join('')
  const request = [method, target.split('?', 1)[0], queryOf(target), block, names.join(';'), 'UNSIGNED-PAYLOAD'].join(
    '\n',
  )
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', time, scope, hash('sha256', Buffer.from(request, 'latin1'))].join('\n')
  const key = scope.split('/').reduce<Buffer>(hmacSha256, Buffer.from(`AWS4${secret_access_key}`))
  const signature = hmacSha256(key, text).toString('hex')
  const credential = `Credential=${access_key_id}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...all, authorization: `AWS4-HMAC-SHA256 ${credential}` }
}

function queryOf(target: string): string {
  try {
    return canonicalQuery(readTarget(target).parameters)
  } catch {
    // A query that cannot be decoded cannot be signed.
    return ''
  }
}
