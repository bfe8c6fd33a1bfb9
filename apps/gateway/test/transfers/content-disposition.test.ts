import { validateHeaderValue } from 'node:http'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '@svc/protocol/filename'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inlineDisposition } from '../../src/transfers/content-disposition.ts'

const FORM = /^inline; filename="([\x20-\x7e]*)"; filename\*=UTF-8''((?:[A-Za-z0-9!#$&+.^_`|~-]|%[0-9A-F]{2})+)$/
const hostileNames = HOSTILE_FILENAMES.filter(({ accepted }) => accepted).map(({ name }) => name)

describe('Content-Disposition', () => {
  it.each([
    ['a.txt', `inline; filename="a.txt"; filename*=UTF-8''a.txt`],
    ['docs/2026/a b.txt', `inline; filename="a b.txt"; filename*=UTF-8''a%20b.txt`],
    ['é😀.png', `inline; filename="__.png"; filename*=UTF-8''%C3%A9%F0%9F%98%80.png`],
    ['e\u0301', `inline; filename="e_"; filename*=UTF-8''e%CC%81`],
    ['a"; x="b', `inline; filename="a_; x=_b"; filename*=UTF-8''a%22%3B%20x%3D%22b`],
    ['100%41', `inline; filename="100_41"; filename*=UTF-8''100%2541`],
    [`(a)*'b'`, `inline; filename="(a)*'b'"; filename*=UTF-8''%28a%29%2A%27b%27`],
    ['\u202etxt.exe', `inline; filename="_txt.exe"; filename*=UTF-8''%E2%80%AEtxt.exe`],
    ['.svc/x', `inline; filename="x"; filename*=UTF-8''x`],
  ])('T-09 of %j', (filename, header) => {
    expect(inlineDisposition(filename)).toBe(header)
  })

  it('T-09 T-30 every accepted hostile name is one harmless header that reads back as its last part', () => {
    for (const name of hostileNames) expectHarmless(name)
  })

  it('T-09 T-30 and so is every other accepted name', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...hostileNames, '/', '"', "'", ';', '%0A', '*='),
    )
    const filename = fc
      .array(piece, { minLength: 1, maxLength: 4 })
      .map((pieces) => pieces.join('').replace(/[:\\\p{Cc}]/gu, ''))
      .filter((name) => filenameProblem(name, DEFAULT_SYSTEM_PREFIX) === null)
    fc.assert(fc.property(filename, expectHarmless), { numRuns: 1000 })
  })
})

function expectHarmless(filename: string): void {
  const header = inlineDisposition(filename)
  expect(header).toMatch(/^[\x20-\x7e]+$/)
  validateHeaderValue('content-disposition', header)
  const [, fallback = '', extended = ''] = FORM.exec(header) ?? []
  expect(fallback).toMatch(/^[^"\\%/]+$/)
  expect(decodeExtended(extended)).toBe(filename.split('/').at(-1))
}

/** RFC 5987: percent-encoded bytes of UTF-8, everything else stands for itself. */
function decodeExtended(value: string): string {
  const bytes = value
    .match(/%..|./g)
    ?.map((part) => (part[0] === '%' ? Number.parseInt(part.slice(1), 16) : part.charCodeAt(0)))
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes ?? []))
}
