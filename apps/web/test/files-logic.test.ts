import type { FileList } from '@svc/api/files'
import { describe, expect, it } from 'vitest'
import { common } from '#texts/common'
import { createListing, PAGE, type PageQuery, SORTED_MOST } from '../src/pages/locker/files/listing.ts'
import { afterScroll, boxPx, rowsInSight, scrollFor, topShowing } from '../src/pages/locker/files/scrolling.ts'
import { numbered, type PlannedFile, plannedFiles, resolveConflicts } from '../src/pages/locker/files/uploads/plan.ts'
import { filenameParts, shortFilename } from '../src/ui/filename.tsx'

describe('the place of a list in its box', () => {
  const short = { rows: 1000, rowPx: 44, viewPx: 600 }
  const long = { rows: 1_000_000, rowPx: 44, viewPx: 600 }

  it('FILE-13 follows the box of a short list', () => {
    expect(boxPx(short)).toBe(44_000)
    expect(afterScroll(short, 0, 0, 440)).toBe(440)
    expect(rowsInSight(short, 440, 0)).toEqual({ first: 10, end: 24 })
  })

  it('FILE-13 moves row by row through a million, jumps in proportion, and reaches both ends', () => {
    expect(boxPx(long)).toBeLessThan(10_000_000)
    const last = long.rows * long.rowPx - long.viewPx
    expect(afterScroll(long, 5_000_000, 1000, 1100)).toBe(5_000_100)
    expect(Math.round(afterScroll(long, 0, 0, (boxPx(long) - 600) / 2))).toBe(last / 2)
    expect(afterScroll(long, 500, 90, 0)).toBe(0)
    expect(afterScroll(long, 0, 0, boxPx(long) - 600)).toBe(last)
    expect(scrollFor(long, last)).toBe(boxPx(long) - 600)
    expect(rowsInSight(long, last, 0).end).toBe(1_000_000)
    expect(topShowing(long, 0, 999_999)).toBe(last)
    expect(topShowing(long, last, 0)).toBe(0)
  })
})

describe('a listing', () => {
  /** The gateway's answers for a folder with this many files. */
  function folderOf(size: number) {
    let count = size
    const asked: PageQuery[] = []
    const name = (i: number) => `f${String(i).padStart(7, '0')}`
    const read = async (query: PageQuery): Promise<FileList> => {
      asked.push(query)
      const start = Number(query.cursor ?? 0)
      const files = Array.from({ length: Math.min(PAGE, count - start) }, (_, i) => ({
        filename: name(start + i),
        size_bytes: (start + i) % 7,
      }))
      const pages = Math.ceil(count / PAGE)
      return {
        locker_id: 'locker_1',
        files: files as FileList['files'],
        count: files.length,
        ...(start + PAGE < count && { next_cursor: String(start + PAGE) }),
        ...(query.outline && {
          outline: { entries: count, cursors: Array.from({ length: pages - 1 }, (_, i) => String((i + 1) * PAGE)) },
        }),
      }
    }
    const grow = (more: number) => {
      count += more
    }
    return { listing: createListing(read), asked, name, grow }
  }
  const outlines = (asked: readonly PageQuery[]) => asked.filter(({ outline }) => outline).length

  it('FILE-13 reads a small folder in one page, and sorts it', async () => {
    const { listing, asked } = folderOf(3)
    await listing.open({ folder: '', search: '' })
    expect([listing.rows.value, asked.length, listing.canSort()]).toEqual([3, 1, true])
    listing.sorting.value = { key: 'name', isDescending: true }
    expect(listing.entryAt(0)?.name).toBe('f0000002')
    expect(listing.rowOf('f0000000')).toBe(2)
  })

  it('FILE-13 sorts a folder that can be read completely, and stays in the order of names until then', async () => {
    const { listing, asked, name } = folderOf(3_000)
    await listing.open({ folder: '', search: '' })
    expect([asked.length, listing.canSort(), listing.isSorted()]).toEqual([2, true, true])
    listing.sorting.value = { key: 'size', isDescending: true }
    expect([listing.isSorted(), listing.entryAt(0)?.name]).toEqual([false, name(0)])
    listing.need(0, 10)
    await expect.poll(() => listing.isSorted()).toBe(true)
    // The outline and each page once.
    expect(asked.length).toBe(7)
    expect([0, 1, 2_999].map((row) => listing.entryAt(row)?.name)).toEqual([name(6), name(13), name(2_996)])
    expect(listing.rowOf(name(6))).toBe(0)

    const longer = folderOf(SORTED_MOST + 1)
    await longer.listing.open({ folder: '', search: '' })
    longer.listing.sorting.value = { key: 'size', isDescending: true }
    longer.listing.need(0, 10)
    expect([longer.listing.canSort(), longer.listing.isSorted(), longer.asked.length]).toEqual([false, false, 2])
  })

  it('FILE-13 reads only the visible part of a large folder, and forgets distant parts', async () => {
    const { listing, asked, name } = folderOf(1_000_000)
    await listing.open({ folder: '', search: '' })
    expect([listing.rows.value, listing.isCounted.value, asked.length]).toEqual([1_000_000, true, 2])
    listing.need(700_123, 700_140)
    await expect.poll(() => listing.entryAt(700_123)?.name).toBe(name(700_123))
    expect(asked.length).toBe(3)
    for (let page = 0; page < 60; page++) listing.need(page * PAGE, page * PAGE)
    await expect.poll(() => listing.entryAt(59 * PAGE)?.name).toBe(name(59 * PAGE))
    expect(listing.entryAt(700_123)).toBe(null)
  })

  it('FILE-13 a search grows as it is read, and answers for an earlier folder change nothing', async () => {
    const { listing, asked } = folderOf(1200)
    const first = listing.open({ folder: 'x/', search: '' })
    await Promise.all([first, listing.open({ folder: '', search: 'f' })])
    expect([listing.place.value, listing.rows.value, listing.isCounted.value]).toEqual([
      { folder: '', search: 'f' },
      PAGE + 1,
      false,
    ])
    listing.need(PAGE, PAGE)
    await expect.poll(() => listing.rows.value).toBe(2 * PAGE + 1)
    listing.need(2 * PAGE, 2 * PAGE)
    await expect.poll(() => [listing.rows.value, listing.isCounted.value]).toEqual([1200, true])
    expect(asked.some(({ outline }) => outline)).toBe(false)
  })

  it('FILE-13 reads visible rows again after a change, and counts when no more changes are expected', async () => {
    const { listing, asked, name, grow } = folderOf(10_000)
    await listing.open({ folder: '', search: '' })
    const sight = () => listing.need(7_000, 7_010)
    sight()
    await expect.poll(() => listing.entryAt(7_000)?.name).toBe(name(7_000))
    const before = asked.length
    grow(1_000)
    // Many changes at once cause two readings: the current one, and one more.
    await Promise.all([1, 2, 3, 4].map(() => listing.refresh({ isChanging: true })))
    expect([asked.length - before, outlines(asked), listing.rows.value]).toEqual([2, 1, 10_000])
    expect(listing.entryAt(7_000)?.name).toBe(name(7_000))
    sight()
    await expect.poll(() => asked.length - before).toBe(3)
    await listing.refresh()
    expect([outlines(asked), listing.rows.value, listing.isCounted.value]).toEqual([2, 11_000, true])
    sight()
    listing.need(10_400, 10_400)
    await expect.poll(() => listing.entryAt(10_400)?.name).toBe(name(10_400))
    expect([listing.rowOf(name(10_400)), listing.rowOf(name(7_003)), listing.rowOf('no')]).toEqual([
      10_400,
      7_003,
      null,
    ])
    // A page with another end reports once that the list has changed.
    grow(1_000)
    listing.need(10_500, 10_500)
    await expect.poll(() => listing.rows.value).toBe(12_000)
    grow(1_000)
    listing.need(11_999, 11_999)
    await expect.poll(() => listing.entryAt(11_999)?.name).toBe(name(11_999))
    expect([outlines(asked), listing.isCounted.value]).toEqual([3, false])
  })

  it('FILE-13 drops pages of an earlier reading', async () => {
    const answers: ((page: FileList) => void)[] = []
    const listing = createListing(() => new Promise((resolve) => answers.push(resolve)))
    const page = (first: string, next?: string) => ({
      locker_id: 'locker_1',
      files: [{ filename: first }] as FileList['files'],
      count: 1,
      ...(next && { next_cursor: next }),
    })
    const opened = listing.open({ folder: '', search: 'x' })
    answers[0]?.(page('x1', 'old'))
    await opened
    listing.need(PAGE, PAGE)
    const again = listing.refresh()
    // The starts of the pages are unknown until the first page arrives.
    listing.need(PAGE, PAGE)
    expect(answers.length).toBe(3)
    answers[2]?.(page('x2', 'new'))
    await again
    answers[1]?.(page('x of the reading before'))
    await Promise.resolve()
    expect([listing.entryAt(0)?.name, listing.entryAt(PAGE)]).toEqual(['x2', null])
    listing.need(PAGE, PAGE)
    answers[3]?.(page('x3'))
    await expect.poll(() => listing.entryAt(PAGE)?.name).toBe('x3')
    expect([listing.rows.value, listing.isCounted.value]).toEqual([PAGE + 1, true])
  })

  it('T-09 leaves out entries of another folder', async () => {
    const listing = createListing(async () => ({
      locker_id: 'locker_1',
      files: [{ filename: 'other/x' }, { filename: 'mine/x' }] as FileList['files'],
      folders: ['mine/', '../', 'mine/sub/'],
      count: 2,
    }))
    await listing.open({ folder: 'mine/', search: '' })
    expect([0, 1, 2].map((row) => listing.entryAt(row)?.name)).toEqual(['mine/sub/', 'mine/x', undefined])
  })
})

describe('names of uploads', () => {
  const chosen = (path: string) => ({ path, file: new File([], path), handle: null })
  const named = (filename: string): PlannedFile => ({ ...chosen(filename), filename, mayReplace: false })

  it('FILE-12 are in the shown folder, each once, with the ending of encrypted files', () => {
    const planned = plannedFiles([chosen('a.txt'), chosen('sub/a.txt'), chosen('a.txt')], 'docs/', true)
    expect(planned.map(({ filename }) => filename)).toEqual(['docs/a.txt.age', 'docs/sub/a.txt.age'])
  })

  it.each([
    ['a.txt', 'a (2).txt'],
    ['a/b.tar.gz', 'a/b.tar (2).gz'],
    ['a.txt.age', 'a (2).txt.age'],
    ['.svc/x', '.svc/x (2)'],
    ['noending', 'noending (2)'],
    ['.hidden', '.hidden (2)'],
  ])('FILE-12 %s becomes %s if both are kept', (name, other) => {
    expect(numbered(name, 2)).toBe(other)
  })

  it('FILE-12 get a number that is free in the locker and among the uploads, if both are kept', async () => {
    const inLocker = new Set(['a.txt', 'a (2).txt'])
    const find = async (names: readonly string[]) => new Set(names.filter((name) => inLocker.has(name)))
    const resolved = await resolveConflicts(
      [named('a.txt'), named('a (3).txt'), named('b.txt')],
      new Set(['a.txt']),
      'keep-both',
      find,
    )
    expect(resolved.map(({ filename }) => filename)).toEqual(['a (3).txt', 'b.txt', 'a (4).txt'])
  })
})

it('FILE-13 the size of one byte is written in the singular', () => {
  expect([0, 1, 2, 1536].map(common.bytes)).toEqual(['0 bytes', '1 byte', '2 bytes', '1.5 KiB'])
})

it('T-09 invisible characters are shown as their numbers, and long names are shortened in sentences', () => {
  expect(filenameParts('a\u202eb\u0007\u200b')).toEqual(['a', 'U+202E', 'b', 'U+0007', '', 'U+200B', ''])
  expect(shortFilename('a\u2066b')).toBe('a[U+2066]b')
  expect([...shortFilename('😀'.repeat(500))].length).toBe(81)
})
