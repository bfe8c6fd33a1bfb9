// `svc sync` and `svc mv`, and what `put` and `get` say about files that were there before.

import { mkdir, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Interrupted } from '../../src/errors.ts'
import { planRenames } from '../../src/files/mv.ts'
import { keeper } from '../../src/files/sync-plans.ts'
import { run } from '../../src/run.ts'
import { type LockerHome, openLockerHome } from '../locker.ts'
import { jsonLines, testWorld } from '../world.ts'

let home: LockerHome
beforeAll(async () => {
  home = await openLockerHome()
})
afterAll(() => home.leave())
beforeEach(async () => {
  await rm(inHome('work'), { recursive: true, force: true })
  await home.svc(['rm', '-r', ...(await stored()).map((name) => name.split('/')[0] as string), '--yes'])
})
afterEach(() => home.house.proxy.behave())

const inHome = (...parts: string[]) => join(home.folder, ...parts)
const work = (...parts: string[]) => inHome('work', ...parts)
const svc = async (...args: string[]) => {
  const result = await home.svc(args)
  expect(result.exitCode, result.stderr + result.stdout).toBe(0)
  return result
}
const stored = async () => jsonLines((await svc('ls', '--json')).stdout).map(({ filename }) => filename as string)
const hashes = async () =>
  Object.fromEntries(jsonLines((await svc('ls', '--json')).stdout).map((file) => [file.filename, file.content_hash]))

async function write(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, bytes] of Object.entries(files)) {
    await mkdir(dirname(work(name)), { recursive: true })
    await writeFile(work(name), bytes)
  }
}

async function found(folder = work()): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true })
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()
}

describe('svc sync to the locker', () => {
  it('ADD-23 uploads what is new or different, removes with --delete what is gone, and does nothing the second time', async () => {
    await write({ a: '1', 'sub/b': '2', c: '3' })
    expect((await svc('sync', work(), ':')).stderr).toContain('3 files uploaded')
    await write({ a: 'changed', d: '4' })
    await rm(work('c'))
    expect((await svc('sync', work(), ':', '--delete')).stderr).toContain(
      '2 files uploaded, 1 skipped (unchanged), 1 deleted',
    )
    expect(await stored()).toEqual(['a', 'd', 'sub/b'])
    const { proxy } = home.house
    const before = proxy.seen.length
    expect((await svc('sync', work(), ':', '--delete')).stderr).toContain('3 files skipped (unchanged)')
    expect(proxy.seen.slice(before).map(({ method }) => method)).toEqual(['GET'])
  })

  it('ADD-23 compares bytes of equal length, whatever the times say', async () => {
    await write({ a: '1' })
    await svc('sync', work(), ':')
    await write({ a: '2' })
    const { stdout } = await svc('sync', work(), 'photos:')
    expect(stdout).toMatch(/✓ a \(replaces 1 B of \d{4}-\d\d-\d\d\)/)
  })

  it('ADD-23 works within one folder of the locker, and leaves the others alone', async () => {
    await write({ a: '1' })
    await svc('sync', work(), ':')
    await svc('sync', work(), ':2026')
    await rm(work('a'))
    await write({ b: '2', c: '3', d: '4', e: '5' })
    await svc('sync', work(), ':2026/')
    await rm(work('b'))
    await svc('sync', work(), ':2026', '--delete')
    expect(await stored()).toEqual(['2026/c', '2026/d', '2026/e', 'a'])
  })

  it('ADD-23 shows with --dry-run what it would do, and changes nothing', async () => {
    await write({ a: '1', b: '2' })
    await svc('sync', work(), ':')
    await rm(work('b'))
    await write({ a: '11', c: '3' })
    const { stdout, stderr } = await svc('sync', work(), ':', '--delete', '--dry-run')
    expect(stderr).toContain('2 files would be uploaded, 1 would be deleted')
    expect(stdout).toContain('✓ a (replaces 1 B')
    expect(await stored()).toEqual(['a', 'b'])
  })

  it('ADD-23 never empties the locker because of an empty or missing folder, unless told so', async () => {
    await write({ a: '1', b: '2' })
    await svc('sync', work(), ':')
    await mkdir(work('empty'))
    expect(await home.svc(['sync', work('nowhere'), ':', '--delete', '--yes'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('there is no'),
    })
    expect(await home.svc(['sync', work('empty'), ':', '--delete'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Delete all 2 files in photos?'),
    })
    const refused = await home.svc(['sync', work('empty'), ':', '--delete'], { stdin: 'n\n', isTerminal: true })
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('nothing was changed') })
    expect(await stored()).toEqual(['a', 'b'])
    await svc('sync', work('empty'), ':', '--delete', '--yes')
    expect(await stored()).toEqual([])
  })

  it('ADD-23 neither sends nor removes what is excluded or left out', async () => {
    await write({ a: '1', 'x.tmp': '2', 'build/out': '3', 'docs/d.md': '4' })
    await svc('sync', work(), ':')
    await symlink('/etc', work('link'))
    for (const name of ['a', 'x.tmp', 'build/out']) await rm(work(name))
    await write({ 'y.tmp': '5' })
    await writeFile(inHome('ignore'), 'build/\n')
    await svc('sync', work(), ':', '--delete', '--exclude', '*.tmp', '--exclude-from', inHome('ignore'))
    expect(await stored()).toEqual(['build/out', 'docs/d.md', 'x.tmp'])
    await write({ 'docs/e.txt': '6' })
    await svc('sync', work(), ':', '--include', '*.txt')
    expect(await stored()).toEqual(['build/out', 'docs/d.md', 'docs/e.txt', 'x.tmp'])
  })

  it('ADD-23 takes a pattern with a comma as one pattern', async () => {
    await write({ 'a,b': '1', a: '2', b: '3' })
    await svc('sync', work(), ':', '--exclude', 'a,b')
    expect(await stored()).toEqual(['a', 'b'])
  })

  it('ADD-23 deletes nothing when a file could not be sent', async () => {
    await write({ a: '1', b: '2' })
    await svc('sync', work(), ':')
    await rm(work('b'))
    await write({ a: '11' })
    const refusal = { error: 'malformed_request', message: 'no', request_id: 'r' }
    home.house.proxy.plan(/\/files$/, { answer: { status: 400, body: refusal } })
    const { exitCode, stderr } = await home.svc(['sync', work(), ':', '--delete'])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('nothing was deleted, because files failed')])
    expect(stderr).toMatch(/error: 1 file failed$/m)
    home.house.proxy.behave()
    expect(await stored()).toEqual(['a', 'b'])
  })
})

describe('svc sync from the locker', () => {
  beforeEach(async () => {
    await write({ a: '1', 'sub/b': '2', 'sub/c': '3' })
    await svc('sync', work(), ':')
    await rm(work(), { recursive: true })
  })

  it('ADD-23 downloads what is new or different, removes with --delete what is gone, and does nothing the second time', async () => {
    await svc('sync', ':', work())
    expect(await found()).toEqual(['a', 'sub/b', 'sub/c'])
    await write({ a: 'mine', 'old/x': '5', 'keep.tmp': '6' })
    const args = ['sync', ':', work(), '--delete', '--exclude', '*.tmp']
    const { stderr } = await svc(...args)
    expect(stderr).toMatch(/1 file saved, 2 skipped \(unchanged\), 1 deleted/)
    expect(await found()).toEqual(['a', 'keep.tmp', 'sub/b', 'sub/c'])
    expect([await readFile(work('a'), 'utf8'), await readdir(work())]).toEqual(['1', ['a', 'keep.tmp', 'sub']])
    expect((await svc(...args)).stderr).toContain('3 files skipped (unchanged)')
  })

  it('ADD-23 takes one folder of the locker, and fails if it is not there', async () => {
    await svc('sync', ':sub', work())
    expect(await found()).toEqual(['b', 'c'])
    expect(await home.svc(['sync', ':nothing', work(), '--delete', '--yes'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there is no photos:nothing/'),
    })
    expect(await found()).toEqual(['b', 'c'])
  })

  it('ADD-23 shows with --dry-run what it would do, and changes nothing', async () => {
    await write({ a: 'mine', x: '5' })
    const { stderr } = await svc('sync', ':', work(), '--delete', '-n')
    expect(stderr).toContain('3 files would be saved, 1 would be deleted')
    expect([await found(), await readFile(work('a'), 'utf8')]).toEqual([['a', 'x'], 'mine'])
  })

  it('ADD-23 asks before it removes more than half of what is in the folder', async () => {
    await write({ mine: '1', other: '2' })
    expect(await home.svc(['sync', ':sub', work(), '--delete'])).toMatchObject({ exitCode: 2 })
    expect(await found()).toEqual(['mine', 'other'])
  })

  it.each(['', 'sub'])('ADD-23 never deletes what cannot be in a locker: :%s', async (folder) => {
    const kept = ['.env', '.git/config', 'a..b', 'a:b', 'x\\y']
    await svc('sync', `:${folder}`, work())
    await write(Object.fromEntries(['gone', ...kept].map((name) => [name, 'mine'])))
    expect((await svc('sync', `:${folder}`, work(), '--delete')).stderr).toContain('1 deleted')
    expect(await found()).toEqual(expect.arrayContaining(kept))
  })

  it('ADD-23 deletes nothing when the gateway leaves out files that it lists', async () => {
    await write({ mine: '5' })
    home.house.proxy.always(/files\/urls/, {
      lie: (body: { urls: object[] }) => ({ ...body, urls: body.urls.slice(1) }),
    })
    const { exitCode, stdout } = await home.svc(['sync', ':', work(), '--delete', '--yes'])
    expect([exitCode, stdout]).toEqual([3, expect.stringContaining('says nothing about it')])
    expect(await found()).toEqual(['mine', 'sub/b', 'sub/c'])
  })

  it.each(['--dry-run', '--delete'])('ADD-23 leaves links on disk as they are, with %s', async (option) => {
    await write({ 'elsewhere/x': 'mine', 'elsewhere/y': '2', 'sub/x': '' })
    await symlink('elsewhere/x', work('a'))
    await symlink('nowhere', work('sub/c'))
    await symlink('../elsewhere/y', work('sub/b'))
    const { exitCode, stdout, stderr } = await home.svc(['sync', ':', work(), option, '--yes'])
    expect([exitCode, stdout]).toEqual([1, expect.stringMatching(/a is a link: it was not replaced[\s\S]*c is a link/)])
    expect(stderr).toContain('1 file skipped (unchanged), 2 ')
    expect(await Promise.all(['a', 'sub/b', 'sub/c'].map((name) => readlink(work(name))))).toEqual([
      'elsewhere/x',
      '../elsewhere/y',
      'nowhere',
    ])
    expect(await readFile(work('elsewhere/x'), 'utf8')).toBe('mine')
  })

  it('T-62 hostile names and links lead nowhere outside the folder, and nothing outside is deleted', async () => {
    await mkdir(inHome('outside'), { recursive: true })
    await writeFile(inHome('outside', 'mine'), 'mine')
    await mkdir(work(), { recursive: true })
    await symlink(inHome('outside'), work('sub'))
    const { exitCode, stdout } = await home.svc(['sync', ':', work(), '--delete'])
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('in the way')])
    expect(await readdir(inHome('outside'))).toEqual(['mine'])
    for (const filename of ['../evil', '/evil', 'a/../../evil', 'C:evil']) {
      home.house.proxy.behave()
      home.house.proxy.always(/manifest/, {
        lie: (body: { files: object[] }) => ({ ...body, files: [{ ...body.files[0], filename }] }),
      })
      expect(await home.svc(['sync', ':', work(), '--delete', '--yes']), filename).toMatchObject({ exitCode: 3 })
    }
    expect(await readdir(home.folder)).not.toContain('evil')
  })

  it('T-62 a file that would begin with a dot at the top of the folder is not written', async () => {
    await write({ x: '1' })
    await svc('put', work('x'), '--as', 'home/.bashrc')
    const { exitCode, stdout } = await home.svc(['sync', ':home', work('out')])
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining("must not begin with '.'")])
    expect(await found(work('out'))).toEqual([])
  })
})

it('ADD-23 what was left out is kept with all below it, however much it is', () => {
  const all = Array.from({ length: 100_000 }, (_, i) => ({ name: `left/${i}`, leftOut: 'a symbolic link' }))
  const isKept = keeper([...all, { name: 'empty/', leftOut: 'an empty folder' }], (name) => name.endsWith('.tmp'))
  expect(['left/7', 'left/7/x/y', 'x.tmp'].filter(isKept)).toHaveLength(3)
  expect(['left', 'left/x', 'left/7x', 'x/left/7', 'empty/a'].filter(isKept)).toEqual([])
  expect(all.filter((_, i) => isKept(`other/${i}`))).toEqual([])
})

it('ADD-23 a sync needs one side of each kind', async () => {
  await write({ a: '1' })
  for (const sides of [
    [work(), work()],
    [':', ':a'],
    ['./a:b', '/c'],
  ])
    expect(await home.svc(['sync', ...sides])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('colon') })
})

describe('svc mv', () => {
  it('ADD-22 renames files, moves them into folders, and moves whole folders, without sending bytes', async () => {
    await write({ a: '1', b: '2', 'old/x': '3', 'old/y/z': '4' })
    await svc('sync', work(), ':')
    const before = await hashes()
    const { proxy } = home.house
    const seen = proxy.seen.length
    expect((await svc('mv', 'a', 'c')).stdout).toBe('a → c\n')
    expect(proxy.seen.slice(seen).map(({ method }) => method)).toEqual(['GET', 'POST'])
    await svc('mv', 'b', 'c', 'docs/')
    await svc('mv', 'old', 'new')
    await svc('mv', 'new/', 'docs')
    expect(await hashes()).toEqual({
      'docs/b': before.b,
      'docs/c': before.a,
      'docs/new/x': before['old/x'],
      'docs/new/y/z': before['old/y/z'],
    })
    expect((await svc('cat', 'docs/new/y/z')).stdout).toBe('4')
  })

  it('ADD-22 replaces a file only with --overwrite, and says what is missing', async () => {
    await write({ a: '1', b: '2' })
    await svc('sync', work(), ':')
    expect(await home.svc(['mv', 'a', 'b'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/b is there already: nothing was renamed\nhint: {2}--overwrite/),
    })
    expect(await home.svc(['mv', 'nothing', 'x'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('there is no nothing'),
    })
    expect(await home.svc(['mv', 'a'])).toMatchObject({ exitCode: 2 })
    expect(await home.svc(['mv', 'a', '../x'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('names have no'),
    })
    await svc('mv', 'a', 'b', '--overwrite')
    expect((await svc('cat', 'b')).stdout).toBe('1')
    expect(await stored()).toEqual(['b'])
  })

  it('ADD-22 advises what to do at a gateway that cannot rename', async () => {
    await write({ a: '1' })
    await svc('sync', work(), ':')
    const body = { error: 'method_not_allowed', message: 'no', request_id: 'r' }
    home.house.proxy.always(/rename/, { answer: { status: 405, body } })
    expect(await home.svc(['mv', 'a', 'b'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('svc put FILE --as NAME'),
    })
  })

  it.each([
    [['a'], 'b', { a: 'b' }],
    [['a'], 'b/', { a: 'b/a' }],
    [['d/x'], 'd2', { 'd/x': 'd2' }],
    [['d'], 'e', { 'd/x': 'e/x', 'd/y/z': 'e/y/z' }],
    [['d'], 'f', { 'd/x': 'f/d/x', 'd/y/z': 'f/d/y/z' }],
    [['a', 'd/y'], 'new', { a: 'new/a', 'd/y/z': 'new/y/z' }],
    [['d/'], 'a/b', { 'd/x': 'a/b/x', 'd/y/z': 'a/b/y/z' }],
  ])('%j to %j', (sources, target, expected) => {
    const entries = new Map(['a', 'd/x', 'd/y/z', 'f/1'].map((name) => [name, { content_hash: null }]))
    const renames = planRenames(entries, sources, target)
    expect(Object.fromEntries(renames.map(({ filename, newFilename }) => [filename, newFilename]))).toEqual(expected)
  })

  it.each([
    [['d'], 'd/e'],
    [['a'], 'a'],
    [['f/1', 'g/1'], 'x'],
  ])('%j to %j is refused', (sources, target) => {
    const entries = new Map(['a', 'd/x', 'f/1', 'g/1'].map((name) => [name, { content_hash: null }]))
    expect(() => planRenames(entries, sources, target)).toThrow(/itself|both/)
  })
})

describe('large files', () => {
  const large = Buffer.alloc(20 * 1024 * 1024, 'large file ')
  const READ = /^\/f\//
  const get = () => home.svc(['get', 'large.bin', '-o', work('out')])
  const inOut = () => readdir(work('out')).catch(() => [])

  beforeEach(async () => {
    await write({ 'large.bin': large })
  })

  /** Stores the file and interrupts its download. Returns the name of what is left. */
  async function interruptGet(): Promise<string> {
    await svc('put', work('large.bin'), '--quiet')
    const { proxy } = home.house
    proxy.plan(READ, { cut: 9_000_000 }, { stall: 'request' })
    const before = proxy.seen.length
    const controller = new AbortController()
    const { world } = testWorld(home.env)
    const exitCode = run(['get', 'large.bin', '-o', work('out')], { ...world, signal: controller.signal })
    const reads = () => proxy.seen.slice(before).filter(({ path }) => READ.test(path))
    await expect.poll(() => reads().length).toBe(2)
    controller.abort(new Interrupted('interrupted'))
    expect(await exitCode).toBe(130)
    proxy.behave()
    const [part = '', ...others] = await inOut()
    expect([part, others]).toEqual([expect.stringMatching(/^\.[0-9a-f]{32}\.\d+\.part$/), []])
    return part
  }

  it('ADD-06 a download resumes from what a process that has ended left on disk, and checks all of it', {
    tags: ['nightly'],
  }, async () => {
    const part = await interruptGet()
    await rename(work('out', part), work('out', part.replace(/\d+\.part$/, '999999999.part')))
    const { proxy } = home.house
    const before = proxy.seen.length
    const { exitCode, stderr } = await get()
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/large\.bin: resuming at [\d.]+ MiB of 20\.0 MiB/)])
    const ranges = proxy.seen.slice(before).flatMap(({ headers }) => headers.range ?? [])
    expect(ranges).toEqual([expect.stringMatching(/^bytes=[1-9]\d{5,}-$/)])
    expect((await readFile(work('out', 'large.bin'))).equals(large)).toBe(true)
    expect(await inOut()).toEqual(['large.bin'])
  })

  it('ADD-06 what was kept and is damaged is read again, and an upload leaves it out', {
    tags: ['nightly'],
  }, async () => {
    const part = await interruptGet()
    await writeFile(work('out', part), Buffer.alloc(9_000_000))
    const { stderr } = await svc('put', work('out'), '--to', 'x')
    expect(stderr).toContain(`left out: ${part} (an unfinished download)`)
    expect(await get()).toMatchObject({ exitCode: 0 })
    expect((await readFile(work('out', 'large.bin'))).equals(large)).toBe(true)
    expect(await inOut()).toEqual(['large.bin'])
  })

  it('ADD-06 what is left of earlier bytes is removed once it is abandoned, and parts of other files stay', {
    tags: ['nightly'],
  }, async () => {
    const part = await interruptGet()
    const ended = part.replace(/\d+\.part$/, '999999999.part')
    const other = `.${'0'.repeat(32)}.999999999.part`
    await rename(work('out', part), work('out', ended))
    await writeFile(work('out', other), '')
    await write({ 'large.bin': Buffer.alloc(large.length, 'other bytes ') })
    await svc('put', work('large.bin'), '--quiet')
    expect(await get()).toMatchObject({ exitCode: 0 })
    expect(await inOut()).toEqual([other, 'large.bin'])
  })

  it('SESS-02 an upload that resumes says how much was kept', { tags: ['nightly'] }, async () => {
    const refusal = { error: 'service_unavailable', message: 'not now', request_id: 'r' }
    home.house.proxy.plan(/index=2&/, { answer: { status: 500, body: refusal } })
    expect((await home.svc(['put', work('large.bin')])).exitCode).toBe(1)
    const { stderr } = await svc('put', work('large.bin'))
    expect(stderr).toMatch(/large\.bin: resuming at (8\.00|16\.0) MiB of 20\.0 MiB/)
  })
})
