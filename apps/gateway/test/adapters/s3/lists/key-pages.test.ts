import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { findKeys, type KeyPage, type KeyQuery } from '../../../../src/adapters/s3/lists/key-pages.ts'
import { migrations } from '../../../../src/db/migrations.ts'
import type { Db, Schema } from '../../../../src/db/schema.ts'

const RUNS = 150
const NEVER = new AbortController().signal

/** Characters whose order differs in UTF-16, that are special in URLs or patterns, or that sort last. */
const UNITS = ['a', 'b', '/', '/', '0', '%', '+', ' ', '_', 'é', '\ue000', '\uffff', '\u{1f600}', '\u{10ffff}']
const TEXT = fc.string({ unit: fc.constantFrom(...UNITS), maxLength: 6 })
const DELIMITER = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('/', '/', '', 'a', 'ab', '//', '%', '\u{10ffff}', 'é/') },
  { weight: 1, arbitrary: TEXT },
)

type ModelPage = Omit<KeyPage, 'keys'> & { keys: string[] }

/** A list as S3 describes it: keys become entries, and a page is the first entries after a text. */
function modelPage(keys: readonly string[], { prefix, delimiter, after, limit }: KeyQuery): ModelPage {
  const matching = keys.filter((key) => key.startsWith(prefix))
  const entries = new Map<string, 'key' | 'prefix'>()
  for (const key of matching) {
    const at = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
    if (at === -1) entries.set(key, 'key')
    else entries.set(key.slice(0, at + delimiter.length), 'prefix')
  }
  const above = [...entries.keys()].filter((entry) => after === null || byBytes(entry, after) > 0).sort(byBytes)
  const page = above.slice(0, limit)
  return {
    keys: page.filter((entry) => entries.get(entry) === 'key'),
    prefixes: page.filter((entry) => entries.get(entry) === 'prefix'),
    next: limit > 0 && above.length > limit ? page.at(-1)! : null,
  }
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

forEachDatabase('pages of keys', (database) => {
  let db: Db
  let lockers = 0
  beforeAll(async () => {
    db = (await database.openMigrated<Schema>(migrations)).db
  })

  async function fill(keys: readonly string[], waiting: readonly string[] = []): Promise<string> {
    const locker_id = `locker_${lockers++}`
    const types = { content_type: 'text/plain', upload_content_type: 'text/plain' }
    const file = (filename: string) => ({ locker_id, filename, ...types })
    const stored = keys
      .filter((key) => !key.endsWith('/'))
      .map((key) => ({ ...file(key), object_id: 'an-object', object_bytes: 3, uploaded_at: '2026-01-01T00:00:00Z' }))
    const folders = keys
      .filter((key) => key.endsWith('/'))
      .map((folder) => ({ locker_id, folder, content_type: 'text/plain', metadata: null, created_at: 5 }))
    for (const rows of chunks(stored)) await writable(db).insertInto('files').values(rows).execute()
    for (const rows of chunks(waiting.map(file))) await writable(db).insertInto('files').values(rows).execute()
    for (const rows of chunks(folders)) await writable(db).insertInto('s3_folders').values(rows).execute()
    return locker_id
  }

  async function expectPages(lockerId: string, keys: readonly string[], query: KeyQuery): Promise<void> {
    for (let after = query.after; ; ) {
      const page = await findKeys(db, lockerId, { ...query, after }, NEVER)
      const found = { ...page, keys: page.keys.map(({ key }) => key) }
      expect(found).toEqual(modelPage(keys, { ...query, after }))
      if (page.next === null) return
      after = page.next
    }
  }

  it('T-10 ADD-44 have the keys and common prefixes that S3 returns, page by page, for any keys, prefix and delimiter', {
    tags: ['nightly'],
  }, async () => {
    const names = fc.uniqueArray(
      TEXT.filter((text) => text !== ''),
      { maxLength: 25 },
    )
    const query = fc.record({
      prefix: fc.oneof(fc.constant(''), TEXT),
      delimiter: DELIMITER,
      after: fc.option(TEXT),
      limit: fc.constantFrom(0, 1, 2, 3, 1000),
    })
    const queries = fc.array(query, { minLength: 5, maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(names, fc.nat(), queries, async (all, seed, asked) => {
        const waiting = all.filter((name, i) => !name.endsWith('/') && (i + seed) % 4 === 0)
        const keys = all.filter((name) => !waiting.includes(name))
        const lockerId = await fill(keys, waiting)
        for (const one of asked) await expectPages(lockerId, keys, one)
      }),
      { numRuns: RUNS },
    )
  })

  it('T-10 skip any number of names that have no bytes yet', { tags: ['nightly'] }, async () => {
    const number = (i: number) => String(i).padStart(5, '0')
    const waiting = Array.from({ length: 21_000 }, (_, i) => `${i < 20_500 ? 'a/' : ''}${number(i)}`)
    const keys = ['a/20499.txt', 'a/z', 'b', 'b/1', 'c/', '20600.txt'].sort(byBytes)
    const lockerId = await fill(keys, waiting)
    for (const delimiter of ['', '/', '.']) {
      for (const limit of [1, 2, 1000])
        for (const prefix of ['', 'a/']) await expectPages(lockerId, keys, { prefix, delimiter, after: null, limit })
    }
    const aborted = AbortSignal.abort()
    const query = { prefix: '', delimiter: '/', after: null, limit: 1000 }
    expect((await findKeys(db, lockerId, query, aborted)).prefixes).not.toContain('a/')
  })

  it('ADD-44 report the size, tag and time of each key', async () => {
    const lockerId = await fill(['waiting to be confirmed', 'folder/'])
    const { keys } = await findKeys(db, lockerId, { prefix: '', delimiter: '', after: null, limit: 9 }, NEVER)
    const tag = expect.stringMatching(/^"[0-9a-f]{32}-1"$/)
    expect(keys).toEqual([
      {
        key: 'folder/',
        size: 0,
        etag: '"e3b0c44298fc1c149afbf4c8996fb924-1"',
        uploadedAt: '1970-01-01T00:00:05Z',
        hasChecksum: true,
      },
      { key: 'waiting to be confirmed', size: 3, etag: tag, uploadedAt: '2026-01-01T00:00:00Z', hasChecksum: false },
    ])
  })
})

function* chunks<T>(rows: readonly T[]): Generator<T[]> {
  for (let i = 0; i < rows.length; i += 1000) yield rows.slice(i, i + 1000)
}
