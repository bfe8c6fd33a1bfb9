import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { base64Decoder, dataScanner, MAX_REST_BYTES } from '../../../../src/adapters/http/sessions/json-data.ts'

function scan(...chunks: (string | Uint8Array)[]): { data: string; rest: string } | null {
  const scanner = dataScanner()
  let data = ''
  for (const chunk of chunks) {
    const found = scanner.feed(Buffer.from(chunk))
    if (found === null) return null
    data += found
  }
  return { data, rest: Buffer.from(scanner.rest()).toString() }
}

/** Parses a document that arrives in chunks of this length, as the gateway does. */
function read(text: string, length: number): unknown {
  const bytes = Buffer.from(text)
  const chunks = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
    bytes.subarray(i * length, (i + 1) * length),
  )
  const scanned = scan(...chunks)
  if (!scanned) return null
  // Not JSON.parse: in V8 13.6 it confuses the key "\"" with another key that it saw in the same place before.
  const { data, ...rest } = parseStrictJson(Buffer.from(scanned.rest), MAX_REST_BYTES) as Record<string, Json>
  return data === undefined ? rest : { ...rest, data: typeof data === 'string' ? data + scanned.data : data }
}

/** Decodes all chunks; null when one is refused. */
function decode(...chunks: string[]): Buffer | null {
  const decoder = base64Decoder()
  const decoded = [...chunks.map((chunk) => decoder.feed(chunk)), decoder.end()]
  return decoded.includes(null) ? null : Buffer.concat(decoded as Buffer[])
}

it('SESS-02 the scanner reads any document as a JSON parser does, wherever it is cut into chunks', {
  tags: ['nightly'],
}, () => {
  const text = fc.string({ unit: fc.constantFrom(...'data":\\,{}[] é/A') })
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.array(tie('any')), fc.dictionary(text, tie('any'))),
  })).any
  const base64 = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'))
  const member = fc.oneof(
    // The decoder refuses any other string as `data`: see below.
    fc.tuple(
      text.filter((key) => key !== 'data'),
      value,
    ),
    fc.tuple(fc.constant('data'), fc.oneof(base64, fc.array(value))),
    fc.tuple(fc.constant('index'), fc.nat()),
  )
  const part = fc.uniqueArray(member, { selector: ([key]) => key }).map((members) => Object.fromEntries(members))
  fc.assert(
    fc.property(part, fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 2), (document, length, indent) => {
      const text = JSON.stringify(document, null, indent)
      fc.pre(Buffer.byteLength(text) < MAX_REST_BYTES)
      expect(read(text, length)).toEqual(document)
    }),
    { numRuns: 150 },
  )
})

it('SESS-02 the scanner returns the data and keeps the rest of the document', () => {
  const scanned = { data: 'QUJD', rest: '{"index":0,"data":"","sha256":"x"}' }
  expect(scan('{"index":0,"da', 'ta":"QUJ', 'D","sha256":"x"}')).toEqual(scanned)
})

it('SESS-02 the scanner unescapes slashes, also across chunks, and leaves other escapes for the decoder to refuse', () => {
  expect(scan('{"data":"ab\\/c\\', '/d"}')).toMatchObject({ data: 'ab/c/d' })
  expect(scan('{"data":"ab\\\\/c"}')).toMatchObject({ data: 'ab\\/c' })
  expect(scan('{"data":"ab\\n"}')).toMatchObject({ data: 'ab\\n' })
  expect(scan('{"data":"ab\\', '"}')).toMatchObject({ data: 'ab\\' })
})

it('T-11 the scanner keeps a bounded number of bytes beside the data', () => {
  const padding = (bytes: number) => `{"x":"${'x'.repeat(bytes)}","data":"${'A'.repeat(100_000)}"}`
  expect(scan(padding(MAX_REST_BYTES - 100))?.data).toHaveLength(100_000)
  expect(scan(padding(MAX_REST_BYTES))).toBeNull()
  expect(scan(...Array(MAX_REST_BYTES).fill(' '))).toBeNull()
})

it('SESS-02 the decoder reads base64 wherever it is cut into chunks', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 6 }), (bytes, cuts) => {
      const text = Buffer.from(bytes).toString('base64')
      const ends = [...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length]
      const chunks = ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end))
      expect(decode(...chunks)).toEqual(Buffer.from(bytes))
    }),
  )
})

it('T-11 the decoder accepts one text per byte string: accepted text equals the encoding of its bytes', () => {
  const alphabet = fc.constantFrom(...'AQgwZ09+/=-_ \n\t\\"é')
  fc.assert(
    fc.property(fc.array(fc.string({ unit: alphabet, maxLength: 9 }), { maxLength: 4 }), (chunks) => {
      const bytes = decode(...chunks)
      if (bytes) expect(bytes.toString('base64')).toBe(chunks.join(''))
    }),
    { numRuns: 5000 },
  )
})
