import type { FileList } from '@svc/api/files'
import { describe, expect, it } from 'vitest'
import { createListing, PAGE, type PageQuery } from '../src/pages/locker/files/listing.ts'
import { nameParts, plainName } from '../src/pages/locker/files/name.tsx'
import { afterScroll, boxPx, rowsInSight, scrollFor, topShowing } from '../src/pages/locker/files/scrolling.ts'
import { numbered, type PlannedFile, plannedFiles, resolveConflicts } from '../src/pages/locker/files/uploads/plan.ts'

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
  /** A folder of so many files, as the gateway answers. */
  function folderOf(count: number) {
    const asked: PageQuery[] = []
    const name = (i: number) => `f${String(i).padStart(7, '0')}`
    const read = async (query: PageQuery): Promise<FileList> => {
      asked.push(query)
      const start = Number(query.cursor ?? 0)
      const files = Array.from({ length: Math.min(PAGE, count - start) }, (_, i) => ({ filename: name(start + i) }))
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
    return { listing: createListing(read), asked, name }
  }

  it('FILE-13 reads one page of a small folder, and sorts it', async () => {
    const { listing, asked } = folderOf(3)
    await listing.open({ folder: '', search: '' })
    expect([listing.rows.value, asked.length, listing.canSort()]).toEqual([3, 1, true])
    listing.sorting.value = { key: 'name', isDescending: true }
    expect(listing.entryAt(0)?.name).toBe('f0000002')
    expect(listing.rowOf('f0000000')).toBe(2)
  })

  it('FILE-13 reads only what is looked at of a large one, and forgets what is far', async () => {
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

  it('FILE-13 a search grows as it is read, and a place that was left changes nothing', async () => {
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

  it('T-69 leaves out what a gateway lists of another folder', async () => {
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
  const named = (filename: string): PlannedFile => ({ ...chosen(filename), filename })

  it('FILE-12 are in the folder that is shown, each once, with the ending of encrypted files', () => {
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
  ])('FILE-12 %s becomes %s where both are kept', (name, other) => {
    expect(numbered(name, 2)).toBe(other)
  })

  it('FILE-12 kept both, a name is free in the locker and among the others', async () => {
    const inLocker = new Set(['a.txt', 'a (2).txt'])
    const find = async (names: readonly string[]) => new Set(names.filter((name) => inLocker.has(name)))
    const kept = await resolveConflicts(
      [named('a.txt'), named('a (3).txt'), named('b.txt')],
      new Set(['a.txt']),
      'keep-both',
      find,
    )
    expect(kept.map(({ filename }) => filename)).toEqual(['a (3).txt', 'b.txt', 'a (4).txt'])
  })
})

it('T-69 characters that cannot be seen are shown by their number, and long names are cut in sentences', () => {
  expect(nameParts('a\u202eb\u0007\u200b')).toEqual(['a', 'U+202E', 'b', 'U+0007', '', 'U+200B', ''])
  expect(plainName('a\u2066b')).toBe('a[U+2066]b')
  expect([...plainName('😀'.repeat(500))].length).toBe(81)
})
