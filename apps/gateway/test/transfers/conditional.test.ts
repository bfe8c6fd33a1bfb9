import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNotModified, isRangeStillGood } from '../../src/transfers/conditional.ts'

const HASH = 'sha256:e3b0c442'
const ETAG = `"${HASH}"`
const opaque = fc.string({ unit: fc.constantFrom(...'aZ0,:;/\\!#é~W*'), maxLength: 12 })

describe('If-None-Match', () => {
  it.each([ETAG, `W/${ETAG}`, `"a", ${ETAG}`, `"a",${ETAG},"b"`, `, ,"a,b" , W/${ETAG} ,`, `"", ${ETAG}`, '*', ' * '])(
    'ADD-06 %s matches',
    (header) => {
      expect(isNotModified(header, ETAG)).toBe(true)
    },
  )

  it.each([
    undefined,
    '',
    HASH,
    `'${HASH}'`,
    ETAG.toUpperCase(),
    `"${HASH}`,
    `"x${HASH}"`,
    `"a,${HASH}"`,
    '"*"',
    `*, "a"`,
    'W/',
    'Wed, 21 Oct 2026 07:28:00 GMT',
    '""""",',
  ])('ADD-06 %j does not match', (header) => {
    expect(isNotModified(header, ETAG)).toBe(false)
  })

  it('ADD-06 a file without a tag matches no tag, but is there', () => {
    expect(isNotModified(ETAG, null)).toBe(false)
    expect(isNotModified('""', null)).toBe(false)
    expect(isNotModified('*', null)).toBe(true)
  })

  it('ADD-06 a weak tag of ours matches like a strong one', () => {
    expect(isNotModified('"a"', 'W/"a"')).toBe(true)
    expect(isNotModified('W/"a"', 'W/"a"')).toBe(true)
    expect(isNotModified('"b"', 'W/"a"')).toBe(false)
  })

  it('ADD-06 a list matches exactly the tags in it', () => {
    const tag = fc.tuple(fc.constantFrom('', 'W/'), opaque).map(([weak, text]) => `${weak}"${text}"`)
    const separator = fc.constantFrom(',', ', ', ' ,\t', ',,')
    fc.assert(
      fc.property(fc.array(tag, { minLength: 1 }), separator, opaque, (tags, between, other) => {
        const header = tags.join(between)
        for (const one of tags) expect(isNotModified(header, one)).toBe(true)
        const isListed = tags.some((one) => one.replace(/^W\//, '') === `"${other}"`)
        expect(isNotModified(header, `"${other}"`)).toBe(isListed)
      }),
    )
  })
})

describe('If-Range', () => {
  it('ADD-06 without a condition a range counts', () => {
    expect(isRangeStillGood(undefined, ETAG)).toBe(true)
    expect(isRangeStillGood(undefined, null)).toBe(true)
  })

  it('ADD-06 a range counts for the very same tag', () => {
    expect(isRangeStillGood(ETAG, ETAG)).toBe(true)
    expect(isRangeStillGood(` ${ETAG}`, ETAG)).toBe(true)
  })

  it.each([
    '',
    '*',
    HASH,
    '"a"',
    `W/${ETAG}`,
    `${ETAG}, ${ETAG}`,
    ETAG.toUpperCase(),
    'Wed, 21 Oct 2026 07:28:00 GMT',
    'Thu, 01 Jan 1970 00:00:00 GMT',
  ])('ADD-06 after %s the whole file is sent', (header) => {
    expect(isRangeStillGood(header, ETAG)).toBe(false)
    expect(isRangeStillGood(header, null)).toBe(false)
  })

  it('ADD-06 a weak tag never vouches for a part', () => {
    expect(isRangeStillGood('W/"a"', 'W/"a"')).toBe(false)
    expect(isRangeStillGood('"a"', 'W/"a"')).toBe(false)
  })
})
