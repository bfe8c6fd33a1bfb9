// `svc sync`, `svc mv` and interrupted downloads.

import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { Interrupted } from '../../src/errors.ts'
import { planRenames } from '../../src/files/mv.ts'
import { keepFilter } from '../../src/files/sync-plans.ts'
import { run } from '../../src/run.ts'
import { exits, includes, jsonLines, testHost } from '../host.ts'
import { useLockerHome } from '../locker.ts'

const home = useLockerHome()
let locker: string
beforeEach(async () => {
  await rm(work(), { recursive: true, force: true })
  locker = (await home.testbed.locker(home.signer)).receipt_id
})

const work = (...parts: string[]) => home.path('work', ...parts)
const svc = (...args: string[]) => home.svc([...args, '-l', locker])
const ok = (...args: string[]) => home.ok(...args, '-l', locker)
const write = (files: Record<string, string | Buffer>) => home.write('work', files)

const listed = async () => jsonLines((await ok('ls', '--json')).stdout)
const stored = async () => (await listed()).map(({ filename }) => filename as string)
const hashes = async () => Object.fromEntries((await listed()).map((file) => [file.filename, file.content_hash]))

/** Writes files and stores them. */
async function store(files: Record<string, string | Buffer>): Promise<void> {
  await write(files)
  await ok('sync', work(), ':')
}

async function found(folder = work()): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true })
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()
}

describe('svc sync to the locker', () => {
  it('ADD-23 uploads new and changed files, deletes missing ones with --delete, and does nothing the second time', async () => {
    await write({ a: '1', 'sub/b': '2', c: '3' })
    expect((await ok('sync', work(), ':')).stderr).toContain('3 files uploaded')
    await write({ a: 'changed', d: '4' })
    await rm(work('c'))
    const { stderr } = await ok('sync', work(), ':', '--delete')
    expect(stderr).toContain('2 files uploaded, 1 skipped (unchanged), 1 deleted')
    expect(await stored()).toEqual(['a', 'd', 'sub/b'])
    const { proxy } = home.testbed
    proxy.seen.length = 0
    expect((await ok('sync', work(), ':', '--delete')).stderr).toContain('3 files skipped (unchanged)')
    expect(proxy.seen.map(({ method }) => method)).toEqual(['GET'])
  })

  it('ADD-23 skips system files and what .svcignore lists, both ways, and reports how many', async () => {
    await write({ a: '1', 'b.tmp': '2', '.DS_Store': '', 'sub/._c': '', 'sub/c': '3', '.svcignore': '*.tmp\n' })
    const { stderr } = await ok('sync', work(), ':')
    expect(stderr).toContain('2 system files skipped (.DS_Store, Thumbs.db, desktop.ini, ._*)')
    expect(stderr).toContain('left out: b.tmp (excluded)')
    expect(stderr).not.toContain('left out: .svcignore')
    expect(await stored()).toEqual(['a', 'sub/c'])
    expect((await ok('put', work())).stderr).toContain('2 system files skipped')
    expect((await ok('sync', ':', work(), '--delete')).stderr).not.toContain('deleted')
    expect(await found()).toEqual(['.DS_Store', '.svcignore', 'a', 'b.tmp', 'sub/._c', 'sub/c'])
  })

  it('ADD-23 compares the bytes of files of equal length, not their times', async () => {
    await store({ a: '1' })
    await write({ a: '2' })
    expect((await ok('sync', work(), ':')).stdout).toMatch(/✓ a \(replaces 1 B from \d{4}-\d\d-\d\d\)/)
  })

  it('ADD-23 works within one folder of the locker, and does not touch the others', async () => {
    await store({ a: '1' })
    await rm(work('a'))
    await write({ b: '2', c: '3', d: '4', e: '5' })
    await ok('sync', work(), ':2026/')
    await rm(work('b'))
    await ok('sync', work(), ':2026', '--delete')
    expect(await stored()).toEqual(['2026/c', '2026/d', '2026/e', 'a'])
  })

  it('ADD-23 shows with --dry-run what it would do, and changes nothing', async () => {
    await store({ a: '1', b: '2' })
    await rm(work('b'))
    await write({ a: '11', c: '3' })
    const { stdout, stderr } = await ok('sync', work(), ':', '--delete', '--dry-run')
    expect(stderr).toContain('2 files would be uploaded, 1 would be deleted')
    expect(stdout).toContain('✓ a (replaces 1 B')
    expect(await stored()).toEqual(['a', 'b'])
  })

  it('ADD-23 never empties the locker because of an empty or missing folder without confirmation', async () => {
    await store({ a: '1', b: '2' })
    await mkdir(work('empty'))
    expect(await svc('sync', work('nowhere'), ':', '--delete', '--yes')).toMatchObject(exits(2, 'does not exist'))
    const empty = ['sync', work('empty'), ':', '--delete']
    expect(await svc(...empty)).toMatchObject(exits(2, /Delete all 2 files in \S+\?/))
    const refused = await home.svc([...empty, '-l', locker], { stdin: 'n\n', isTerminal: true })
    expect(refused).toMatchObject(exits(1, 'nothing was changed'))
    expect(await stored()).toEqual(['a', 'b'])
    await ok(...empty, '--yes')
    expect(await stored()).toEqual([])
  })

  it('ADD-23 neither uploads nor deletes files that are excluded or left out', async () => {
    await store({ a: '1', 'x.tmp': '2', 'build/out': '3', 'docs/d.md': '4', 'x,y': '5' })
    await symlink('/etc', work('link'))
    for (const name of ['a', 'x.tmp', 'build/out', 'x,y']) await rm(work(name))
    await write({ 'y.tmp': '5' })
    await home.write('', { ignore: 'build/\n' })
    const excluded = ['--exclude', '*.tmp', '--exclude', 'x,y', '--exclude-from', home.path('ignore')]
    await ok('sync', work(), ':', '--delete', ...excluded)
    expect(await stored()).toEqual(['build/out', 'docs/d.md', 'x,y', 'x.tmp'])
    await write({ 'docs/e.txt': '6' })
    await ok('sync', work(), ':', '--include', '*.txt')
    expect(await stored()).toEqual(['build/out', 'docs/d.md', 'docs/e.txt', 'x,y', 'x.tmp'])
  })

  it('ADD-23 deletes nothing when an upload failed', async () => {
    await store({ a: '1', b: '2' })
    await rm(work('b'))
    await write({ a: '11' })
    const body = { error: 'malformed_request', message: 'no', request_id: 'r' }
    home.testbed.proxy.plan(/\/files$/, { answer: { status: 400, body } })
    const why = /error: 1 file failed\nhint: .*nothing was deleted, because files failed/
    expect(await svc('sync', work(), ':', '--delete')).toMatchObject(exits(1, why))
    expect(await stored()).toEqual(['a', 'b'])
  })
})

describe('svc sync from the locker', () => {
  beforeEach(async () => {
    await store({ a: '1', 'sub/b': '2', 'sub/c': '3' })
    await rm(work(), { recursive: true })
  })

  it('ADD-23 downloads new and changed files, deletes missing ones with --delete, and does nothing the second time', async () => {
    await ok('sync', ':', work())
    expect(await found()).toEqual(['a', 'sub/b', 'sub/c'])
    await write({ a: 'mine', 'old/x': '5', 'keep.tmp': '6' })
    const args = ['sync', ':', work(), '--delete', '--exclude', '*.tmp']
    expect((await ok(...args)).stderr).toMatch(/1 file saved, 2 skipped \(unchanged\), 1 deleted/)
    expect(await found()).toEqual(['a', 'keep.tmp', 'sub/b', 'sub/c'])
    expect([await readFile(work('a'), 'utf8'), await readdir(work())]).toEqual(['1', ['a', 'keep.tmp', 'sub']])
    expect((await ok(...args)).stderr).toContain('3 files skipped (unchanged)')
  })

  it('ADD-23 downloads one folder of the locker, and fails if it does not exist', async () => {
    await ok('sync', ':sub', work())
    const missing = await svc('sync', ':nothing', work(), '--delete', '--yes')
    expect(missing).toMatchObject(exits(1, /\S+:nothing\/ does not exist/))
    expect(await found()).toEqual(['b', 'c'])
  })

  it('ADD-23 shows with --dry-run what it would do, and asks before it deletes more than half', async () => {
    await write({ a: 'mine', x: '5' })
    const { stderr } = await ok('sync', ':', work(), '--delete', '-n')
    expect(stderr).toContain('3 files would be saved, 1 would be deleted')
    expect(await svc('sync', ':sub', work(), '--delete')).toMatchObject({ exitCode: 2 })
    expect([await found(), await readFile(work('a'), 'utf8')]).toEqual([['a', 'x'], 'mine'])
  })

  it.each(['', 'sub'])('ADD-23 never deletes files whose names a locker cannot have: :%s', async (folder) => {
    const kept = ['.env', '.git/config', 'a..b', 'a:b', 'x\\y']
    await ok('sync', `:${folder}`, work())
    await write(Object.fromEntries(['gone', ...kept].map((name) => [name, 'mine'])))
    expect((await ok('sync', `:${folder}`, work(), '--delete')).stderr).toContain('1 deleted')
    expect(await found()).toEqual(expect.arrayContaining(kept))
  })

  it('ADD-23 deletes nothing when the gateway leaves out files that it lists', async () => {
    await write({ mine: '5' })
    home.testbed.proxy.always(/files\/urls/, {
      lie: (body: { urls: object[] }) => ({ ...body, urls: body.urls.slice(1) }),
    })
    const { exitCode, stdout } = await svc('sync', ':', work(), '--delete', '--yes')
    expect([exitCode, stdout]).toEqual([3, includes('does not mention it')])
    expect(await found()).toEqual(['mine', 'sub/b', 'sub/c'])
  })

  it.each(['--dry-run', '--delete'])('ADD-23 does not change links on disk with %s', async (option) => {
    await write({ 'elsewhere/x': 'mine', 'elsewhere/y': '2', 'sub/x': '' })
    const links = { a: 'elsewhere/x', 'sub/b': '../elsewhere/y', 'sub/c': 'nowhere' }
    for (const [name, target] of Object.entries(links)) await symlink(target, work(name))
    const { exitCode, stdout, stderr } = await svc('sync', ':', work(), option, '--yes')
    expect([exitCode, stdout]).toEqual([1, includes(/a is a link: it was not replaced[\s\S]*c is a link/)])
    expect(stderr).toContain('1 file skipped (unchanged), 2 ')
    for (const [name, target] of Object.entries(links)) expect(await readlink(work(name))).toBe(target)
    expect(await readFile(work('elsewhere/x'), 'utf8')).toBe('mine')
  })

  it('T-06 hostile names and links lead nowhere outside the folder, and nothing outside is deleted', async () => {
    const outside = await home.write('outside', { mine: 'mine' })
    await mkdir(work())
    await symlink(outside, work('sub'))
    const { exitCode, stdout } = await svc('sync', ':', work(), '--delete')
    expect([exitCode, stdout]).toEqual([1, includes('in the way')])
    expect(await readdir(outside)).toEqual(['mine'])
    for (const filename of ['../evil', '/evil', 'a/../../evil', 'C:evil']) {
      home.testbed.proxy.plan(/manifest/, {
        lie: (body: { files: object[] }) => ({ ...body, files: [{ ...body.files[0], filename }] }),
      })
      expect(await svc('sync', ':', work(), '--delete', '--yes'), filename).toMatchObject({ exitCode: 3 })
    }
    expect(await readdir(home.folder)).not.toContain('evil')
  })

  it('T-06 a file that would begin with a dot at the top of the folder is not written', async () => {
    await write({ x: '1' })
    await ok('put', work('x'), '--as', 'home/.bashrc')
    const { exitCode, stdout } = await svc('sync', ':home', work('out'))
    expect([exitCode, stdout]).toEqual([1, includes("must not begin with '.'")])
    expect(await found(work('out'))).toEqual([])
  })
})

it('ADD-23 left-out names are kept with everything below them, even 100,000 of them', () => {
  const all = Array.from({ length: 100_000 }, (_, i) => ({ name: `left/${i}`, leftOut: 'a symbolic link' }))
  const isKept = keepFilter([...all, { name: 'empty/', leftOut: 'an empty folder' }], (name) => name.endsWith('.tmp'))
  expect(['left/7', 'left/7/x/y', 'x.tmp'].filter(isKept)).toHaveLength(3)
  expect(['left', 'left/x', 'left/7x', 'x/left/7', 'empty/a'].filter(isKept)).toEqual([])
  expect(all.filter((_, i) => isKept(`other/${i}`))).toEqual([])
})

it.each([
  ['/a', '/b'],
  [':', ':a'],
  ['./a:b', '/c'],
])('ADD-23 a sync rejects %s and %s: it needs one folder on disk and one in a locker', async (...sides) => {
  expect(await svc('sync', ...sides)).toMatchObject(exits(2, 'colon'))
})

describe('svc mv', () => {
  it('ADD-22 renames files, moves them into folders, and moves whole folders, without uploading bytes', async () => {
    await store({ a: '1', b: '2', 'old/x': '3', 'old/y/z': '4' })
    const before = await hashes()
    const { proxy } = home.testbed
    proxy.seen.length = 0
    expect((await ok('mv', 'a', 'c')).stdout).toBe('a → c\n')
    expect(proxy.seen.map(({ method }) => method)).toEqual(['GET', 'POST'])
    await ok('mv', 'b', 'c', 'docs/')
    await ok('mv', 'old', 'docs')
    expect(await hashes()).toEqual({
      'docs/b': before.b,
      'docs/c': before.a,
      'docs/old/x': before['old/x'],
      'docs/old/y/z': before['old/y/z'],
    })
  })

  it('ADD-22 replaces a file only with --overwrite, and names a missing file', async () => {
    await store({ a: '1', b: '2' })
    const taken = /b already exists: nothing was renamed\nhint: {2}--overwrite/
    expect(await svc('mv', 'a', 'b')).toMatchObject(exits(1, taken))
    expect(await svc('mv', 'nothing', 'x')).toMatchObject(exits(1, 'the locker has no nothing'))
    expect(await svc('mv', 'a')).toMatchObject({ exitCode: 2 })
    expect(await svc('mv', 'a', '../x')).toMatchObject(exits(2, 'names have no'))
    await ok('mv', 'a', 'b', '--overwrite')
    expect((await ok('cat', 'b')).stdout).toBe('1')
    expect(await stored()).toEqual(['b'])
  })

  const ENTRIES = new Map(['a', 'd/x', 'd/y/z', 'f/1', 'g/1'].map((name) => [name, { content_hash: null }]))

  it.each([
    [['a'], 'b', { a: 'b' }],
    [['a'], 'b/', { a: 'b/a' }],
    [['d/x'], 'd2', { 'd/x': 'd2' }],
    [['d'], 'e', { 'd/x': 'e/x', 'd/y/z': 'e/y/z' }],
    [['d'], 'f', { 'd/x': 'f/d/x', 'd/y/z': 'f/d/y/z' }],
    [['a', 'd/y'], 'new', { a: 'new/a', 'd/y/z': 'new/y/z' }],
    [['d/'], 'a/b', { 'd/x': 'a/b/x', 'd/y/z': 'a/b/y/z' }],
  ])('moves %j to %j', (sources, target, expected) => {
    const renames = planRenames(ENTRIES, sources, target)
    expect(Object.fromEntries(renames.map(({ filename, newFilename }) => [filename, newFilename]))).toEqual(expected)
  })

  it.each([
    [['d'], 'd/e'],
    [['a'], 'a'],
    [['f/1', 'g/1'], 'x'],
  ])('rejects a move of %j to %j', (sources, target) => {
    expect(() => planRenames(ENTRIES, sources, target)).toThrow(/the same folder|both/)
  })
})

describe('an interrupted download', { tags: ['nightly'] }, () => {
  const large = Buffer.alloc(20 * 1024 * 1024, 'large file ')
  const READ = /^\/f\//
  const inOut = () => readdir(work('out'))
  const ENDED = '999999999.part'
  /** The partial download; by its name, the process still runs. */
  let part: string

  beforeEach(async () => {
    await write({ 'large.bin': large })
    await ok('put', work('large.bin'), '--quiet')
    const { proxy } = home.testbed
    proxy.plan(READ, { cut: 9_000_000 }, { stall: 'request' })
    proxy.seen.length = 0
    const controller = new AbortController()
    const host = { ...testHost(home.env).host, signal: controller.signal }
    const exitCode = run(['get', 'large.bin', '-o', work('out/'), '-l', locker], host)
    await expect.poll(() => proxy.seen.filter(({ path }) => READ.test(path)).length).toBe(2)
    controller.abort(new Interrupted('interrupted'))
    expect(await exitCode).toBe(130)
    proxy.seen.length = 0
    const [left = '', ...others] = await inOut()
    expect([left, others]).toEqual([includes(/^\.[0-9a-f]{32}\.\d+\.part$/), []])
    part = left
  })

  const abandon = () => rename(work('out', part), work('out', part.replace(/\d+\.part$/, ENDED)))
  const get = () => ok('get', 'large.bin', '-o', work('out/'))

  it('ADD-06 resumes from the part that an ended process left on disk, and checks all of it', async () => {
    await abandon()
    expect((await get()).stderr).toMatch(/large\.bin: resuming at [\d.]+ MiB of 20\.0 MiB/)
    const ranges = home.testbed.proxy.seen.flatMap(({ headers }) => headers.range ?? [])
    expect(ranges).toEqual([includes(/^bytes=[1-9]\d{5,}-$/)])
    expect((await readFile(work('out', 'large.bin'))).equals(large)).toBe(true)
    expect(await inOut()).toEqual(['large.bin'])
  })

  it('ADD-06 starts over when its part is damaged, and an upload leaves the part out', async () => {
    await writeFile(work('out', part), Buffer.alloc(9_000_000))
    const { stderr } = await ok('put', work('out'), '--to', 'x')
    expect(stderr).toContain(`left out: ${part} (an unfinished download)`)
    await get()
    expect((await readFile(work('out', 'large.bin'))).equals(large)).toBe(true)
    expect(await inOut()).toEqual(['large.bin'])
  })

  it('ADD-06 removes the abandoned part of an earlier version of the file, and no parts of other files', async () => {
    const other = `.${'0'.repeat(32)}.${ENDED}`
    await abandon()
    await writeFile(work('out', other), '')
    await write({ 'large.bin': Buffer.alloc(large.length, 'other bytes ') })
    await ok('put', work('large.bin'), '--quiet')
    await get()
    expect(await inOut()).toEqual([other, 'large.bin'])
  })
})
