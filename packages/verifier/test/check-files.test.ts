import { utf8 } from '@svc/protocol/bytes'
import type { FileEntry } from '@svc/protocol/merkle'
import { hashContent } from '@svc/protocol/sha256'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFileCheck, type FileSource } from '../src/check-files.ts'

async function entry(filename: string, text: string): Promise<FileEntry> {
  const { size_bytes, content_hash } = (await hashContent([utf8(text)], Number.POSITIVE_INFINITY))!
  return { filename, size_bytes, content_hash }
}

async function check(files: readonly FileEntry[], source: FileSource) {
  const checking = await createFileCheck(source)
  for (const file of files) await checking.check([file])
  return checking.end()
}

async function* pieces(...texts: string[]) {
  for (const text of texts) yield utf8(text)
}

async function* brokenStream() {
  yield utf8('cu')
  throw new Error('EIO')
}

describe('the files of a folder', () => {
  it('CLI-02 match if each has the listed size and bytes, in chunks of any size', async () => {
    const files = [await entry('a/b.txt', 'hello'), await entry('empty', '')]
    const open = async (name: string) => (name === 'empty' ? [] : pieces('he', '', 'llo'))
    expect(await check(files, { open })).toMatchObject({ fact: { value: 'passed' }, report: { matching: 2 } })
  })

  it('CLI-02 T-38 leave the fact unchecked if the source is partial, and missing ones do not fail', async () => {
    const files = await Promise.all(['a', 'b', 'c'].map((name) => entry(name, name)))
    const hashes = new Map(files.map(({ filename, ...content }) => [filename, content]))
    const given = (...names: string[]) => {
      const reported: [string, string | null][] = []
      const source: FileSource = {
        isPartial: true,
        open: (name) => (names.includes(name) ? (hashes.get(name) ?? null) : null),
        names: () => names,
        onChecked: (...result) => reported.push(result),
      }
      return { source, reported }
    }
    const some = given('b')
    expect(await check(files, some.source)).toMatchObject({
      fact: { value: 'not_checked', why: 'only 1 of 3 files were compared; they match' },
      report: { matching: 1, counts: { missing: 0 } },
    })
    expect(some.reported).toEqual([
      ['a', 'missing'],
      ['b', null],
      ['c', 'missing'],
    ])
    expect((await check(files, given('a', 'b', 'c').source)).fact).toEqual({ value: 'passed' })
    expect((await check(files, given('a', 'x').source)).fact).toEqual({
      value: 'failed',
      why: 'not in the bundle: "x"',
    })
    hashes.set('a', { size_bytes: 1, content_hash: '00'.repeat(32) })
    expect((await check(files, given('a').source)).fact).toMatchObject({ value: 'failed' })
  })

  it('CLI-02 are reported if they are missing, changed, unreadable or not in the bundle', async () => {
    const files = await Promise.all(['same', 'gone', 'other', 'broken', 'cut'].map((name) => entry(name, name)))
    const { fact, report } = await check(files, {
      open(name) {
        if (name === 'gone') return null
        if (name === 'broken') throw new Error('EACCES')
        if (name === 'cut') return brokenStream()
        return pieces(name === 'other' ? 'OTHER' : name)
      },
      names: () => ['same', 'other', 'broken', 'cut', 'extra'],
    })
    expect(report).toEqual({
      matching: 1,
      counts: { missing: 1, changed: 1, unreadable: 2, unsafe: 0, extra: 1 },
      names: { missing: ['gone'], changed: ['other'], unreadable: ['broken', 'cut'], unsafe: [], extra: ['extra'] },
    })
    expect(fact).toEqual({
      value: 'failed',
      why: expect.stringMatching(
        /^missing: "gone"; different size or content: "other"; unreadable: "broken" .*; not in the bundle: "extra"/,
      ),
    })
  })

  it('are not read beyond their listed size', async () => {
    let given = 0
    let isClosed = false
    async function* endless() {
      try {
        for (;;) {
          given++
          yield utf8('hello')
        }
      } finally {
        isClosed = true
      }
    }
    const { report } = await check([await entry('a', 'hello')], { open: endless })
    expect([report.counts.changed, given, isClosed]).toEqual([1, 2, true])
  })

  it('CLI-05 are never opened by a name that leaves the folder', async () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'b..', '...', '\\', 'C', '\0', ' ', '..\\', '/', '//', '~')
    const names = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'))
    await fc.assert(
      fc.asyncProperty(names, async (filename) => {
        const asked: string[] = []
        const open = (name: string) => {
          asked.push(name)
          return null
        }
        const { fact } = await check([{ filename, size_bytes: 0, content_hash: 'ab'.repeat(32) }], { open })
        expect(fact.value).toBe('failed')
        for (const name of asked) {
          const path = name.split('/').map(encodeURIComponent).join('/')
          const { pathname, host } = new URL(path, 'http://folder/inside/')
          expect([host, pathname.startsWith('/inside/')]).toEqual(['folder', true])
          expect(name).not.toContain('\0')
          expect(name).not.toContain('\\')
        }
      }),
      { numRuns: 150 },
    )
  })

  it('are all counted, and up to a hundred names are listed for each problem', async () => {
    const open = () => null
    const files = Array.from({ length: 150 }, (_, i) => ({ filename: `${i}`, size_bytes: 0, content_hash: '' }))
    const { report, fact } = await check(files, { open })
    expect([report.counts.missing, report.names.missing.length]).toEqual([150, 100])
    expect(fact).toMatchObject({ why: 'missing: "0" and 149 more' })
  })

  it('are shown as plain text on one line, however hostile their names are', async () => {
    const { fact } = await check([await entry('\u001b[2J\u202eexe\n', '')], { open: () => null })
    expect(fact).toMatchObject({ why: 'missing: "\\u{1b}[2J\\u{202e}exe\\u{a}"' })
  })
})
