import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { excluderOf, isSystemFile, matcher } from '../../src/files/patterns.ts'
import { sameNames } from '../../src/files/same-names.ts'

describe('a pattern of names', () => {
  it.each<[pattern: string, matches: string[], others: string[]]>([
    ['*.tmp', ['a.tmp', 'b/c.tmp', '.x.tmp', 'd.tmp/e'], ['a.tmpx', 'tmp']],
    ['.*', ['.git/config', 'a/.b/c', '.x'], ['a.b', 'a/b.c']],
    ['build', ['build', 'build/a', 'x/build/y'], ['builds', 'rebuild']],
    ['build/', ['build/a', 'x/build/y'], ['build', 'x/build']],
    ['/build', ['build', 'build/a'], ['x/build']],
    ['docs/*.md', ['docs/a.md', 'docs/.md'], ['docs/x/a.md', 'x/docs/a.md']],
    ['docs/**/*.md', ['docs/a.md', 'docs/x/y/a.md'], ['docs/a.txt']],
    ['**/logs', ['logs', 'a/b/logs/x'], ['logs.txt']],
    ['logs/**', ['logs/a', 'logs/a/b'], ['logs', 'x/logs/a']],
    ['?.txt', ['a.txt', 'ü.txt', '😀.txt'], ['ab.txt', '.txt']],
    ['[a-c]?', ['b1', 'x/c2'], ['d1', 'a']],
    ['[!a-c]1', ['d1'], ['a1', 'x/a1']],
    ['a\\*b', ['a*b'], ['axb']],
    ['(x)+{a}^$|.', ['(x)+{a}^$|.'], ['xa']],
    ['a b ', ['a b'], ['a b c']],
  ])('%j matches %j and not %j', (pattern, matches, others) => {
    const isMatch = matcher([pattern])
    expect(matches.filter((name) => !isMatch(name))).toEqual([])
    expect(others.filter(isMatch)).toEqual([])
  })

  it('re-includes earlier matches if it is negated, unless their folder is excluded', () => {
    const isMatch = matcher(['*.log', '!keep.log', 'build/', '!build/keep.log'])
    expect(['a.log', 'keep.log', 'x/keep.log', 'build/keep.log'].map(isMatch)).toEqual([true, false, false, true])
  })

  it('is a usage error if it cannot be parsed', () => {
    expect(() => matcher(['[z-a]'])).toThrow('not a pattern')
  })

  it('comes from options and from files with comments, and can also include names', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-patterns-'))
    const file = join(folder, 'ignore')
    await writeFile(file, '# comment\r\n\r\n*.tmp\r\nbuild/\r\n')
    const isExcluded = await excluderOf({ include: ['*.md', 'src'], exclude: ['draft*'], excludeFrom: [file] })
    const names = ['a.md', 'b/a.md', 'src/x.c', 'x.c', 'draft.md', 'build/a.md', 'src/x.tmp', 'any/', 'build/']
    expect(names.filter((name) => !isExcluded(name))).toEqual(['a.md', 'b/a.md', 'src/x.c', 'any/'])
    await expect(excluderOf({ excludeFrom: [join(folder, 'none')] })).rejects.toThrow('the file does not exist')
    await rm(folder, { recursive: true })
  })

  it('leaves out system files and the patterns of .svcignore by default', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-patterns-'))
    const system = ['.DS_Store', 'a/Thumbs.db', 'a/desktop.ini', 'b/._photo.jpg']
    expect(system.filter(await excluderOf({}, folder))).toEqual(system)
    expect(system.filter(isSystemFile)).toEqual(system)
    const others = ['a/._folder/', 'a/._folder/x', 'Thumbs.db.txt', 'x.DS_Store']
    expect(others.filter(await excluderOf({}, folder))).toEqual([])
    expect(others.filter(isSystemFile)).toEqual([])
    await writeFile(join(folder, '.svcignore'), '\uFEFF# mine\n/build/\n*.log\n!keep.log\n!Thumbs.db\n')
    const isExcluded = await excluderOf({ exclude: ['*.bak'] }, folder)
    const names = ['.svcignore', 'build/x', 'a/build/x', 'a.log', 'keep.log', 'Thumbs.db', '.DS_Store', 'a.bak']
    expect(names.filter(isExcluded)).toEqual(['.svcignore', 'build/x', 'a.log', '.DS_Store', 'a.bak'])
    await rm(folder, { recursive: true })
  })
})

it('sameNames finds names that some disks treat as one, by case and by the form of accents', () => {
  const same = sameNames(['A.txt', 'b', 'a.txt', 'é', 'e\u0301', 'a/B', 'A/b'])
  expect([...same]).toEqual([
    ['a.txt', 'A.txt'],
    ['e\u0301', 'é'],
    ['A/b', 'a/B'],
  ])
})
