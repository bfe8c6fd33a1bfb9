// Signed requests, and presigned URLs. An example is JSON: method, target and headers.

import { readAuthorization } from '@svc/s3/authorization'
import { S3Error } from '@svc/s3/errors'
import type { S3Head } from '@svc/s3/head'
import { checkSignature } from '@svc/s3/signature'
import { readTarget } from '@svc/s3/target'
import { accepted, json, must, mustEqual, type Parser } from '../engine/parser.ts'
import { ACCESS_KEY_ID, NOW, presign, SECRET, signHead } from './signing.ts'

export function open(): Parser {
  const get = { method: 'GET', path: '/bucket/a%20b.txt', query: [], headers: {} }
  const list = {
    ...get,
    path: '/bucket',
    query: [
      ['list-type', '2'],
      ['prefix', 'a/é'],
      ['delimiter', ''],
    ] as const,
  }
  const put = { ...get, method: 'PUT', headers: { 'x-amz-meta-a': 'one  two', 'content-type': 'text/plain' } }
  const genuine = [signHead(get), signHead(list), signHead(put), presign(get), presign(list)]
  return {
    seeds: genuine.map((head) => JSON.stringify(head)),
    words: [
      ...[
        'authorization',
        'x-amz-date',
        'date',
        'x-amz-content-sha256',
        'UNSIGNED-PAYLOAD',
        'host',
        ';',
        ',',
        '=',
        '&',
        '?',
      ],
      ...[
        'X-Amz-Algorithm=',
        'X-Amz-Expires',
        '604801',
        'AWS4-HMAC-SHA256',
        'Credential=',
        '%',
        '%2F',
        '+',
        '/aws4_request',
      ],
      ...[
        'x-amz-security-token',
        ACCESS_KEY_ID,
        'AWS ',
        'AWS4-ECDSA-P256-SHA256',
        'constructor',
        '__proto__',
        'http://h',
      ],
    ],
    isJson: true,
    check(input) {
      const head = headIn(json(input))
      const signed = head && accepted(S3Error, () => checkSignature(head, readAuthorization(head), SECRET, NOW))
      if (!head || !signed) return
      const meanings = genuine.map((one) => meaningOf(one, signed.authorization.signedHeaders))
      must(
        meanings.includes(meaningOf(head, signed.authorization.signedHeaders)),
        'takes a request that was not signed',
      )
      mustEqual(Object.getPrototypeOf(signed.headers), null, 'headers have a prototype')
    },
  }
}

function headIn(value: unknown): S3Head | null {
  const { method, target, headers } = { ...(value as Partial<S3Head> | null | undefined) }
  const isHead =
    typeof method === 'string' && typeof target === 'string' && typeof headers === 'object' && headers !== null
  if (!isHead || !Object.values(headers).every((header) => typeof header === 'string')) return null
  // Node's parser makes a character of each byte.
  if (/[^\0-\xff]/.test(target)) return null
  return { method, target, headers }
}

/** All that a signature protects, in one spelling. */
function meaningOf({ method, target, headers }: S3Head, signedHeaders: readonly string[]): string {
  const { path, parameters } = readTarget(target)
  const values = signedHeaders.map((name) => [
    name,
    String(headers[name] ?? '')
      .replace(/\s+/g, ' ')
      .replaceAll(', ', ',')
      .trim(),
  ])
  const query = parameters.map(({ name, value }) => `${name}=${value}`).sort()
  return JSON.stringify([method, decodeURIComponent(path), query, values])
}
