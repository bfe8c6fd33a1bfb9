import { validateHeaderValue } from 'node:http'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { text } from '@svc/devnet/properties/rules'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import { expect, it } from 'vitest'
import {
  fileHeaders,
  inlineDisposition,
  PUBLIC_LINK_HEADERS,
  TOKEN_HEADERS,
} from '../../../src/adapters/http/file-headers.ts'

const page = {
  filename: 'docs/page.html',
  contentType: 'text/html; charset=UTF-8',
  etag: '"sha256:ab"',
  modifiedAt: Date.UTC(2026, 8, 1, 12),
  size: 12,
}
const FORM = /^inline; filename="([\x20-\x7e]*)"; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})+)$/
const hostileNames = HOSTILE_FILENAMES.filter(({ accepted }) => accepted).map(({ name }) => name)

it('FILE-30 T-09 file headers give the stored type and keep browsers from running the file or guessing its type', () => {
  expect(fileHeaders(page)).toEqual({
    'content-type': 'text/html; charset=UTF-8',
    'content-length': '12',
    'content-disposition': `inline; filename="page.html"; filename*=UTF-8''page.html`,
    'accept-ranges': 'bytes',
    etag: '"sha256:ab"',
    'last-modified': 'Tue, 01 Sep 2026 12:00:00 GMT',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'cross-origin',
  })
})

it.each([
  ['audio/mpeg', "sandbox; default-src 'none'; media-src 'self'"],
  ['Video/WebM', "sandbox; default-src 'none'; media-src 'self'"],
  ['image/svg+xml', "sandbox; default-src 'none'"],
  ['application/x-audio/', "sandbox; default-src 'none'"],
])('ADD-19 T-09 the content policy of %s lets only audio and video load themselves', (contentType, policy) => {
  expect(fileHeaders({ ...page, contentType })['content-security-policy']).toBe(policy)
})

it('ADD-06 file headers write lengths in full digits and omit an unknown time', () => {
  const headers = fileHeaders({ ...page, modifiedAt: null, size: Number.MAX_SAFE_INTEGER })
  expect(headers).not.toHaveProperty('last-modified')
  expect(headers['content-length']).toBe('9007199254740991')
})

it('T-07 T-09 short URLs stay out of caches and Referer headers, and caches revalidate the public link', () => {
  expect(TOKEN_HEADERS).toEqual({ 'cache-control': 'private, no-store', 'referrer-policy': 'no-referrer' })
  expect(PUBLIC_LINK_HEADERS).toEqual({ 'cache-control': 'no-cache' })
})

it.each([
  ['docs/2026/a b.txt', `inline; filename="a b.txt"; filename*=UTF-8''a%20b.txt`],
  ['é😀.png', `inline; filename="__.png"; filename*=UTF-8''%C3%A9%F0%9F%98%80.png`],
  ['a"; x="b', `inline; filename="a_; x=_b"; filename*=UTF-8''a%22%3B%20x%3D%22b`],
  ['100%41', `inline; filename="100_41"; filename*=UTF-8''100%2541`],
  [`(a)*'b'`, `inline; filename="(a)*'b'"; filename*=UTF-8''%28a%29%2A%27b%27`],
  ['\u202etxt.exe', `inline; filename="_txt.exe"; filename*=UTF-8''%E2%80%AEtxt.exe`],
])('T-09 Content-Disposition of %j has both forms of the name', (filename, header) => {
  expect(inlineDisposition(filename)).toBe(header)
})

it('T-09 T-30 no made-up input breaks the rules of Content-Disposition', async () => {
  expect(
    await problemWith({
      examples: hostileNames,
      words: ['/', '"', "'", ';', '*=', '%0A', '%', '\\', '\u202e', '\ud83d\ude00', '\uffff'],
      rule(input) {
        const name = text(input)
        if (filenameProblem(name, DEFAULT_SYSTEM_PREFIX) === null) expectHarmless(name)
      },
    }),
  ).toBeNull()
})

function expectHarmless(filename: string): void {
  const header = inlineDisposition(filename)
  expect(header).toMatch(/^[\x20-\x7e]+$/)
  validateHeaderValue('content-disposition', header)
  const [, fallback = '', extended = ''] = FORM.exec(header) ?? []
  expect(fallback).toMatch(/^[^"\\%/]+$/)
  const last = filename.split('/').at(-1)!
  expect(decodeExtended(extended)).toBe(last)
  expect(fallback).toHaveLength([...last].length)
}

/** RFC 5987: percent-encoded bytes of UTF-8; other characters are literal. */
function decodeExtended(value: string): string {
  const bytes = value
    .match(/%..|./g)
    ?.map((part) => (part[0] === '%' ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0)))
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes ?? []))
}
