import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_SYSTEM_PREFIX, filenameProblem } from '../src/filename.ts'
import { HOSTILE_FILENAMES } from './filenames.ts'

const problem = (name: string) => filenameProblem(name, DEFAULT_SYSTEM_PREFIX)
const anyText = fc.string({ unit: 'binary', maxLength: 40 })
/** Text that no rule forbids. */
const segment = anyText.map((text) => text.toWellFormed().replace(/[:\\/.\p{Cc}]/gu, '_')).filter((text) => text !== '')
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/'))

describe('filenames', () => {
  it('AMB-22 T-06 are accepted or refused as listed', () => {
    const wrong = HOSTILE_FILENAMES.filter(({ name, accepted }) => (problem(name) === null) !== accepted)
    expect(wrong).toEqual([])
  })

  it.each([
    ['', 'must not be empty'],
    ['a:b', "must not contain ':'"],
    ['a\\b', "must not contain '\\'"],
    ['a..b', "must not contain '..'"],
    ['.a', "must not begin with '.'"],
    ['.svc/.a', "must not have '.' right after '.svc/'"],
    ['.svc/', "must not begin or end with '/' or contain '//'"],
    ['/a', "must not begin or end with '/' or contain '//'"],
    ['a/./b', "must not have a part that is only '.'"],
    ['a\nb', 'must not contain control characters'],
    ['\ud800', 'must not contain a lone surrogate'],
    ['é'.repeat(257), 'must be at most 512 bytes of UTF-8'],
  ])('FILE-04 FILE-05 are refused with a reason, such as %j', (name, message) => {
    expect(problem(name)).toBe(message)
  })

  it('FILE-06 AMB-22 may begin with a dot only under the configured prefix', () => {
    expect(filenameProblem('.own/a', '.own/')).toBeNull()
    expect(filenameProblem('.svc/a', '.own/')).toBe("must not begin with '.'")
    expect(filenameProblem('.svc/a', '')).toBe("must not begin with '.'")
    expect(filenameProblem('a', '')).toBeNull()
    expect(filenameProblem('', '')).toBe('must not be empty')
  })

  it('AMB-22 may contain all other characters, with and without the prefix', () => {
    fc.assert(
      fc.property(path, (name) => {
        expect(problem(name)).toBeNull()
        expect(problem(DEFAULT_SYSTEM_PREFIX + name)).toBeNull()
      }),
    )
  })

  it('FILE-03 FILE-04 are refused for forbidden text at any position', () => {
    const poison = fc.constantFrom(':', '\\', '..', '\0', '\n', '\r', '\x7f', '\x80', '\x9f', '\ud800', '//', '/./')
    fc.assert(
      fc.property(path, poison, fc.nat(), (name, bad, at) => {
        // Insert between complete characters: a high surrogate before a low one would make a valid character.
        const characters = [...name]
        const place = at % (characters.length + 1)
        const poisoned = [...characters.slice(0, place), bad, ...characters.slice(place)].join('')
        expect(problem(poisoned)).not.toBeNull()
        expect(problem(DEFAULT_SYSTEM_PREFIX + poisoned)).not.toBeNull()
      }),
    )
  })

  it('AMB-22 are limited in bytes of UTF-8, for all characters', () => {
    const character = fc.constantFrom('a', 'é', '€', '😀', '\uffff', '\u{10ffff}', 'ß')
    fc.assert(
      fc.property(fc.array(character, { minLength: 100, maxLength: 400 }), (characters) => {
        const name = characters.join('')
        const isShortEnough = new TextEncoder().encode(name).length <= 512
        expect(problem(name) === null).toBe(isShortEnough)
      }),
    )
  })
})
