import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dataScanner, MAX_REST_BYTES } from '../../../src/transfers/sessions/json-data.ts'

function scan(...pieces: (string | Uint8Array)[]): { data: string; rest: string } | null {
  const scanner = dataScanner()
  let data = ''
  for (const piece of pieces) {
    const found = scanner.feed(Buffer.from(piece))
    if (found === null) return null
    data += found
  }
  return { data, rest: Buffer.from(scanner.rest()).toString() }
}

/** What comes of a document in pieces of these lengths, read as the gateway reads it. */
function read(text: string, length: number): unknown {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
    bytes.subarray(i * length, (i + 1) * length),
  )
  const scanned = scan(...pieces)
  if (!scanned) return null
  // Not by JSON.parse: V8's (13.6) takes the key "\"" for another it has seen in its place before.
  const { data, ...rest } = parseStrictJson(Buffer.from(scanned.rest), MAX_REST_BYTES) as Record<string, Json>
  return data === undefined ? rest : { ...rest, data: typeof data === 'string' ? data + scanned.data : data }
}

describe('the part in its JSON', () => {
  it('SHAPE-28 reads as the document says, wherever it is cut and whatever else is in it', () => {
    const text = fc.string({ unit: fc.constantFrom(...'data":\\,{}[] é/A') })
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.array(tie('any')), fc.dictionary(text, tie('any'))),
    })).any
    const base64 = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('base64'))
    const member = fc.oneof(
      // Texts of that name are the decoder's to judge: see below.
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
      { numRuns: 300 },
    )
  })

  it('SHAPE-28 hands the data out, and keeps the rest', () => {
    expect(scan('{"index":0,"da', 'ta":"QUJ', 'D","sha256":"x"}')).toEqual({
      data: 'QUJD',
      rest: '{"index":0,"data":"","sha256":"x"}',
    })
  })

  it('SHAPE-28 reads escaped slashes, also across pieces; other escapes stay for the decoder to refuse', () => {
    expect(scan('{"data":"ab\\/c\\', '/d"}')).toMatchObject({ data: 'ab/c/d' })
    expect(scan('{"data":"ab\\\\/c"}')).toMatchObject({ data: 'ab\\/c' })
    expect(scan('{"data":"ab\\n"}')).toMatchObject({ data: 'ab\\n' })
    expect(scan('{"data":"ab\\', '"}')).toMatchObject({ data: 'ab\\' })
  })

  it('T-11 keeps no more than a little beside the data', () => {
    const padding = (bytes: number) => `{"x":"${'x'.repeat(bytes)}","data":"${'A'.repeat(100_000)}"}`
    expect(scan(padding(MAX_REST_BYTES - 100))?.data).toHaveLength(100_000)
    expect(scan(padding(MAX_REST_BYTES))).toBeNull()
    expect(scan(...Array(MAX_REST_BYTES).fill(' '))).toBeNull()
  })
})
