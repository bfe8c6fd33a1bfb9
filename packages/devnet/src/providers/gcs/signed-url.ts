// URLs signed by the account (GOOG4-RSA-SHA256), which allow any client to upload or download one object.

import { createHash, type KeyObject, verify } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { EMAIL } from './account.ts'
import type { Exchange } from './exchange.ts'
import { serveMedia } from './json-api.ts'
import { crc32cOf, type Objects } from './objects.ts'

export async function serveSigned(
  exchange: Exchange,
  objects: Objects,
  account: { bucket: string; publicKey: KeyObject; now: () => number },
): Promise<void> {
  const problem = findProblem(exchange, account.publicKey, account.now())
  if (problem) return refuse(exchange, 403, problem)
  const [, bucket, ...rest] = exchange.url.pathname.split('/').map(decodeURIComponent)
  const name = rest.join('/')
  if (bucket !== account.bucket) return refuse(exchange, 404, 'NoSuchBucket')
  if (exchange.method === 'PUT') {
    const path = objects.newFile()
    await pipeline(exchange.body, async (chunks) => writeFile(path, chunks))
    const { 'content-type': contentType = 'application/octet-stream', 'content-encoding': contentEncoding } =
      exchange.headers
    const crc32c = await crc32cOf(path)
    const about = { name, crc32c, contentType, metadata: {}, ...(contentEncoding && { contentEncoding }) }
    const { size } = await stat(path)
    const tooLarge = sizeProblem(exchange.headers['x-goog-content-length-range'], size)
    if (tooLarge) {
      await rm(path)
      return refuse(exchange, 400, tooLarge)
    }
    const isNew = exchange.headers['x-goog-if-generation-match'] === '0'
    const kept = await objects.keep(path, size, about, isNew)
    return kept ? exchange.answer(200) : refuse(exchange, 412, 'PreconditionFailed')
  }
  const found = objects.find(name)
  if (!found) return refuse(exchange, 404, 'NoSuchKey')
  const type = exchange.url.searchParams.get('response-content-type')
  return serveMedia(exchange, objects, found, type ?? found.contentType)
}

function sizeProblem(range: string | string[] | undefined, size: number): string | null {
  const [, least = '0', most = 'Infinity'] = /^(\d+),(\d+)$/.exec(`${range ?? ''}`) ?? []
  if (size > Number(most)) return 'EntityTooLarge'
  return size < Number(least) ? 'EntityTooSmall' : null
}

/** Why the signature does not authorize this request; null when it does. */
function findProblem({ method, url, headers }: Exchange, publicKey: KeyObject, now: number): string | null {
  const query = new URLSearchParams(url.search)
  const field = (name: string) => query.get(`X-Goog-${name}`) ?? ''
  const signature = field('Signature')
  if (field('Algorithm') !== 'GOOG4-RSA-SHA256' || !signature) return 'AccessDenied'
  query.delete('X-Goog-Signature')
  const [signer, ...scope] = field('Credential').split('/')
  const date = field('Date')
  const begins = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const signedHeaders = field('SignedHeaders').split(';')
  // The client libraries sign the host without its port.
  const headerOf = (name: string) => (name === 'host' ? url.hostname : (headers[name] ?? ''))
  const canonical = [
    method,
    url.pathname,
    [...query]
      .map(([key, value]) => `${encode(key)}=${encode(value)}`)
      .sort()
      .join('&'),
    ...signedHeaders.map((name) => `${name}:${`${headerOf(name)}`.trim().replace(/\s{2,}/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    'UNSIGNED-PAYLOAD',
  ].join('\n')
  const digest = createHash('sha256').update(canonical).digest('hex')
  const blob = Buffer.from(['GOOG4-RSA-SHA256', date, scope.join('/'), digest].join('\n'))
  if (signer !== EMAIL || !verify('sha256', blob, publicKey, Buffer.from(signature, 'hex')))
    return 'SignatureDoesNotMatch'
  return now >= begins && now < begins + Number(field('Expires')) * 1000 ? null : 'ExpiredToken'
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** An error in the form of the XML API, which serves signed URLs. */
function refuse(exchange: Exchange, status: number, code: string): void {
  const type = { 'content-type': 'application/xml; charset=UTF-8' }
  exchange.answer(status, `<?xml version='1.0' encoding='UTF-8'?><Error><Code>${code}</Code></Error>`, type)
}
