import type { FileList } from '@svc/api/files'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { compareCodePoints } from '@svc/protocol/order'
import { expect, it } from 'vitest'
import { outlineOf } from '../../../src/files/lists/find-files.ts'
import { insertFiles } from '../files.ts'

const NAMES = [
  'a',
  'a b.txt',
  'a!',
  'a/1.txt',
  'a/2.txt',
  'a/deep/er/1.txt',
  'a0',
  'b/100%_sure.TXT',
  'b/1000 sure.txt',
  'b\u{10ffff}/x',
  'é/ü.txt',
  '\u{1f600}/\u{1f600}/smile',
  '\u{10ffff}',
  '\u{10ffff}/\u{10ffff}',
  'z',
].toSorted(compareCodePoints)

forEachDatabase('a list of some files', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const locker = forAllTests(async () => {
    // Files of another locker, which are never listed here.
    await insertFiles(instance, await instance.locker(ed25519Identity()), ['a/other', 'other/1'])
    const made = await instance.locker(ed25519Identity())
    await insertFiles(instance, made, NAMES)
    return made
  })

  const ask = (query: Record<string, string>, from = locker) =>
    from.call<FileList>(['locker:list'], 'GET', `/files?${new URLSearchParams(query)}`)
  const entriesOf = ({ files, folders = [] }: FileList) =>
    [...files.map(({ filename }) => filename), ...folders].toSorted(compareCodePoints)

  /** The entries of all pages, by `next_cursor` and then by the cursors of the outline. */
  async function allEntries(query: Record<string, string>, from = locker): Promise<string[]> {
    const paged: string[] = []
    const cursors: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { body } = await ask({ ...query, ...(cursor && { cursor }) }, from)
      paged.push(...entriesOf(body))
      cursor = body.next_cursor
      if (cursor === undefined) break
      cursors.push(cursor)
    }
    if (query.search === undefined && Number(query.limit) >= 100) {
      const { body } = await ask({ ...query, outline: 'true' }, from)
      expect(body.outline).toEqual({ entries: paged.length, cursors })
    }
    return paged
  }

  /** The expected list, computed from all names. */
  function expected(prefix: string, isInFolders: boolean): string[] {
    const names = NAMES.filter((name) => name.startsWith(prefix))
    if (!isInFolders) return names
    return [...new Set(names.map((name) => prefix + /^[^/]*\/?/.exec(name.slice(prefix.length))![0]))]
  }

  const PREFIXES = ['', 'a', 'a/', 'a/deep/', 'b/', '\u{1f600}/', '\u{10ffff}', '\u{10ffff}/', 'nothing/', 'A']
  it.each(PREFIXES)('FILE-13 has the files and folders that begin with %j, in pages of any size', async (prefix) => {
    for (const limit of ['1', '2', '3', '1000']) {
      expect(await allEntries({ prefix, limit })).toEqual(expected(prefix, false))
      expect(await allEntries({ prefix, limit, folders: 'true' })).toEqual(expected(prefix, true))
    }
  })

  it.each([
    ['txt', NAMES.filter((name) => /txt/i.test(name))],
    ['0%_s', ['b/100%_sure.TXT']],
    ['SURE', ['b/100%_sure.TXT', 'b/1000 sure.txt']],
    ['\u{1f600}/', ['\u{1f600}/\u{1f600}/smile']],
    ['\\', []],
    ["'; drop table files; --", []],
  ])('FILE-13 finds names that contain %j', async (search, found) => {
    for (const limit of ['1', '2', '100']) expect(await allEntries({ search, limit })).toEqual(found)
    expect(await allEntries({ search, prefix: 'b/' })).toEqual(found.filter((name) => name.startsWith('b/')))
  })

  it('FILE-13 refuses filters that cannot be combined or stored', async () => {
    const refused = [
      { search: 'a', folders: 'true' },
      { search: 'a', outline: 'true' },
      { outline: 'true', limit: '99' },
      { search: '' },
      { prefix: '\0' },
    ]
    for (const query of refused) expectRefusal(await ask(query), 422, 'validation_error')
  })

  it('FILE-13 T-10 searches and counts beyond one batch of rows, and skips a folder of any size in one step', {
    tags: ['nightly'],
  }, async () => {
    const large = await instance.locker(ed25519Identity())
    const names = Array.from(
      { length: 21_000 },
      (_, i) => `${i % 3 === 0 ? 'flat' : 'deep/in'}/${String(i).padStart(5, '0')}`,
    )
    await insertFiles(instance, large, names)
    const all = async (query: Record<string, string>) => allEntries({ limit: '7000', ...query }, large)
    expect(await all({ folders: 'true' })).toEqual(['deep/', 'flat/'])
    expect((await all({ prefix: 'flat/', folders: 'true', limit: '1000' })).length).toBe(7000)
    expect(await all({ search: '20997' })).toEqual(['flat/20997'])
    expect((await all({})).length).toBe(21_000)

    const { db } = instance.gateway.context.database
    const outline = (limit: number, maxCursors: number, disconnected = new AbortController().signal) =>
      outlineOf(db, large.lockerId, { limit }, { maxCursors, disconnected })
    expect(await outline(7000, 2)).toMatchObject({ entries: 21_000, truncated: true, cursors: { length: 2 } })
    const { cursors, ...cut } = await outline(100, 3)
    expect(cut).toEqual({ entries: 400, truncated: true })
    const { body } = await ask({ limit: '100', cursor: cursors.at(-1)! }, large)
    expect(body.files[0]?.filename).toBe(names.toSorted(compareCodePoints)[300])
    expect(await outline(100, 1000, AbortSignal.abort())).toEqual({ entries: 100, cursors: [], truncated: true })
  })

  it('FILE-13 T-10 has an outline that leads to every page, for any names', async () => {
    const mixed = await instance.locker(ed25519Identity())
    const names = NAMES.flatMap((name) => Array.from({ length: 27 }, (_, i) => `${name}-${i}`)).concat(NAMES)
    await insertFiles(instance, mixed, names.toSorted(compareCodePoints))
    expect(await allEntries({ limit: '100' }, mixed)).toHaveLength(names.length)
    expect((await allEntries({ limit: '100', folders: 'true' }, mixed)).length).toBeGreaterThan(150)
  })
})
