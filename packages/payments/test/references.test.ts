import { utf8 } from '@svc/protocol/bytes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findReferences } from '../src/references.ts'

const hexDigits = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 })
const name = fc.tuple(fc.constantFrom('pr_', 'ref_'), hexDigits).map((parts) => parts.join(''))
/** Ends in a text that cannot begin an id, and begins with a text that cannot extend one. */
const between = fc.string({ unit: 'binary' }).map((text) => ` ${text.replaceAll('_', '')} `)

describe('references', () => {
  it('ADD-03 finds every id in texts and bytes, each once, in order', () => {
    const [a, b] = [`pr_${'0a'.repeat(16)}`, `ref_${'f9'.repeat(16)}`]
    expect(findReferences(`pay ${b} and ${a}`, utf8(a), b)).toEqual([b, a])
    expect(findReferences()).toEqual([])
  })

  it('ADD-03 finds ids at any position', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(between, name)), (parts) => {
        const text = parts.flat().join('').toWellFormed()
        const ids = [...new Set(parts.map(([, id]) => id))]
        expect(findReferences(text)).toEqual(ids)
        expect(findReferences(utf8(text))).toEqual(ids)
      }),
    )
  })

  it('ADD-03 finds an id between bytes that are not text', () => {
    const id = `pr_${'1b'.repeat(16)}`
    const calldata = Uint8Array.from([0xa9, 0x05, 0x9c, 0xbb, 0xff, 0xc3, ...utf8(id), 0x80, 0x00])
    expect(findReferences(calldata)).toEqual([id])
  })

  it.each([
    ['too short', `pr_${'a'.repeat(31)}`],
    ['too short', `ref_${'a'.repeat(31)}`],
    ['in upper case', `pr_${'A'.repeat(32)}`],
    ['of another kind', `rcpt_${'a'.repeat(32)}`],
    ['cut in two', `pr_${'a'.repeat(16)} ${'a'.repeat(16)}`],
  ])('does not accept an id %s', (_, text) => {
    expect(findReferences(text)).toEqual([])
  })

  it('does not join ids across sources', () => {
    expect(findReferences('pr_', 'a'.repeat(32))).toEqual([])
  })
})
