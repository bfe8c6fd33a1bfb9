// Responses with pages and their assets.

import { createHash } from 'node:crypto'
import { Bytes } from '@svc/service/http/answer'
import { weightOf } from '@svc/service/http/compression'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Asset } from '../../pages/built-pages.ts'

/** Everything comes from this gateway, nothing is inline, and no text becomes markup or code (T-61). */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
}

/** Paths of pages contain receipt ids, which grant access to files. */
const NO_REFERRER = { 'referrer-policy': 'no-referrer' }

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  ...NO_REFERRER,
}

export type ShowPage = (wire: WireRequest, status?: number) => Bytes

interface PagePolicy {
  /** Directives that differ from the defaults. `{storage}` is replaced with the origins of storage providers. */
  different?: Readonly<Record<string, string>>
  storageOrigins: () => readonly string[]
}

/** The document links its files relative to its own path, so that it works under any prefix. */
export function showPage(html: string, { different = {}, storageOrigins }: PagePolicy): ShowPage {
  const directives = Object.entries({ ...POLICY, ...different })
    .map((directive) => directive.join(' '))
    .join('; ')
  return (wire, status = 200) => {
    const policy = directives.replace(/ \{storage\}/g, () =>
      storageOrigins()
        .map((origin) => ` ${origin}`)
        .join(''),
    )
    const { pathname } = new URL(wire.target, 'http://gateway')
    const up = '../'.repeat(pathname.split('/').length - 2)
    const text = Buffer.from(html.replaceAll('"./', `"${up || './'}`))
    const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
    const headers = { ...PAGE_HEADERS, 'content-security-policy': policy, vary: 'accept', etag }
    if (status === 200 && wire.headers['if-none-match']?.includes(etag)) return new Bytes(304, headers, null)
    return bytesOf(wire.method, { ...headers, 'content-length': String(text.length) }, text, status)
  }
}

type Asked = Pick<WireRequest, 'method' | 'headers'>

/** The name of an asset changes with its content. */
export function assetAnswer(asset: Asset, wire: Asked): Bytes {
  return packedAnswer(asset, wire, { 'cache-control': 'public, max-age=31536000, immutable' })
}

/** A page to save to disk: it never runs here. */
export function downloadAnswer(asset: Asset, filename: string, wire: Asked): Bytes {
  return packedAnswer(asset, wire, {
    'cache-control': 'no-cache',
    'content-disposition': `attachment; filename="${filename}"`,
    'content-security-policy': "default-src 'none'; sandbox",
  })
}

export function textAnswer(text: string, { method }: Asked): Bytes {
  const bytes = Buffer.from(text)
  const length = String(bytes.length)
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'content-length': length, 'cache-control': 'no-cache' }
  return bytesOf(method, { ...headers, ...NO_REFERRER }, bytes)
}

function packedAnswer({ contentType, plain, compressed }: Asset, wire: Asked, more: Record<string, string>): Bytes {
  const accepted = String(wire.headers['accept-encoding'] ?? '')
  const [coding, read] = compressed.find(([name]) => accepts(accepted, name)) ?? [null, plain]
  const bytes = read()
  const headers = {
    'content-type': contentType,
    'content-length': String(bytes.length),
    ...(coding && { 'content-encoding': coding }),
    vary: 'accept-encoding',
    ...NO_REFERRER,
    ...more,
  }
  return bytesOf(wire.method, headers, bytes)
}

function bytesOf(method: string, headers: Record<string, string>, bytes: Buffer, status = 200): Bytes {
  return new Bytes(status, headers, method === 'HEAD' ? null : bytes)
}

/** Whether a list such as `br;q=1.0, gzip` accepts this word, that is, not with `q=0`. */
function accepts(list: string, word: string): boolean {
  return weightOf(list, word) > 0
}

/** Browsers name `text/html`; programs name JSON, anything, or nothing. */
export function prefersHtml(accept = ''): boolean {
  const html = weightOf(accept, 'text/html')
  return html > 0 && html >= weightOf(accept, 'application/json')
}
