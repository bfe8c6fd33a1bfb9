import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import type { ManifestEntry } from '@svc/api/file-entries'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import { type Found, type WalkOptions, walk } from '@svc/sdk/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { collect } from '../../src/files/collect.ts'
import { matching } from '../../src/files/matching.ts'
import { matcher } from '../../src/files/patterns.ts'
import { safePath } from '../../src/files/safe-path.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-files-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function files(...names: string[]): Promise<void> {
  for (const name of names) {
    await mkdir(join(folder, dirname(name)), { recursive: true })
    await writeFile(join(folder, name), name)
  }
}

async function walked(options: WalkOptions = {}): Promise<Record<string, string | number>> {
  const found: Found[] = []
  for await (const one of walk(folder, options)) found.push(one)
  return Object.fromEntries(found.map((one) => [one.name, 'leftOut' in one ? one.leftOut : one.size]))
}

describe('walking a folder', () => {
  it('finds all files with their paths and reports what is not a file', async () => {
    await files('b', 'a/x', 'a/y/z')
    await mkdir(join(folder, 'empty'))
    execFileSync('mkfifo', [join(folder, 'pipe')])
    expect(await walked()).toEqual({
      'a/x': 3,
      'a/y/z': 5,
      b: 1,
      'empty/': 'an empty folder',
      pipe: 'neither a file nor a folder',
    })
  })

  it('follows symbolic links only with `follow`, and never in a loop', async () => {
    await files('a/x')
    await symlink('x', join(folder, 'a/link'))
    await symlink('..', join(folder, 'a/up'))
    await symlink('nowhere', join(folder, 'a/dangling'))
    const link = 'a symbolic link'
    expect(await walked()).toEqual({ 'a/dangling': link, 'a/link': link, 'a/up': link, 'a/x': 3 })
    expect(await walked({ follow: true })).toEqual({
      'a/dangling': 'a symbolic link to nothing',
      'a/link': 3,
      'a/up': 'a symbolic link to a folder that it is in',
      'a/x': 3,
    })
  })

  it('reports names that are not UTF-8 and skips them', async () => {
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xfc])]), '')
    expect(Object.values(await walked())).toEqual(['a name that is not UTF-8'])
  })

  it('skips excluded names and reports them', async () => {
    await files('.git/config', 'src/.cache/x', 'src/a.tmp', 'src/b', 'build/c')
    const isExcluded = matcher(['.*', '*.tmp', 'build/*'])
    expect(await walked({ isExcluded })).toEqual({
      '.git': 'excluded',
      'build/c': 'excluded',
      'src/.cache': 'excluded',
      'src/a.tmp': 'excluded',
      'src/b': 5,
    })
  })
})

describe('collecting files to upload', () => {
  const namesOf = async (paths: string[], options = {}) => (await collect(paths, options)).files.map(({ name }) => name)

  it('names files relative to their folder, below the `to` folder if one is given', async () => {
    await files('photos/2026/a.jpg', 'b.txt')
    const paths = [join(folder, 'photos'), join(folder, 'b.txt')]
    expect(await namesOf(paths)).toEqual(['2026/a.jpg', 'b.txt'])
    expect(await namesOf(paths, { to: 'backup/' })).toEqual(['backup/2026/a.jpg', 'backup/b.txt'])
    expect(await namesOf([join(folder, 'b.txt')], { as: 'c.txt', to: 'x' })).toEqual(['x/c.txt'])
  })

  it('fails for all files if the gateway would reject any of their names', async () => {
    await files('ok', '.hidden', 'a:b', 'c\\d')
    await expect(collect([folder], {})).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringMatching(/^3 file names are not allowed: .*\.hidden.*a:b.*c/),
      hint: expect.stringContaining('--exclude'),
    })
    expect(await namesOf([folder], { exclude: ['.*', '*:*', 'c*'] })).toEqual(['ok'])
  })

  it('fails for two files with one name and for a path that does not exist', async () => {
    await files('a/x', 'b/x')
    await expect(collect([join(folder, 'a'), join(folder, 'b')], {})).rejects.toThrow('would be the name of both')
    await expect(collect([join(folder, 'c')], {})).rejects.toThrow('does not exist')
    await expect(collect([folder], { as: 'y' })).rejects.toThrow('--as needs exactly one file')
  })
})

describe('the path of a downloaded file', () => {
  it('is below the folder, or rejected, for every hostile name', async () => {
    for (const { name, accepted } of HOSTILE_FILENAMES) {
      const path = await safePath(folder, name).catch(() => null)
      if (path !== null) expect(relative(folder, path), name).not.toMatch(/^\.\.|^\//)
      expect(path !== null, name).toBe(accepted)
    }
  })

  it('never goes through a symbolic link or a file', async () => {
    await symlink(tmpdir(), join(folder, 'link'))
    await expect(safePath(folder, 'link/x')).rejects.toThrow('in the way')
    await files('file')
    await expect(safePath(folder, 'file/x')).rejects.toThrow('in the way')
  })
})

describe('selecting files of a locker', () => {
  async function select(filenames: string[], names: string[]): Promise<string[]> {
    async function* entries() {
      for (const filename of filenames) yield { filename } as ManifestEntry
    }
    const found: string[] = []
    for await (const { name, entry } of matching(entries(), names)) found.push(`${name}: ${entry.filename}`)
    return found
  }

  it('matches a file by its own name or by a folder that contains it', async () => {
    expect(await select(['a/b', 'ab'], ['a'])).toEqual(['a: a/b'])
    expect(await select(['a/b', 'ab'], ['a/'])).toEqual(['a/: a/b'])
    expect(await select(['a/b', 'x'], ['x', 'a/b'])).toEqual(['a/b: a/b', 'x: x'])
    expect(await select(['a/b', 'x'], [])).toEqual([': a/b', ': x'])
  })

  it('fails when a name matches nothing', async () => {
    await expect(select(['ab'], ['a', 'ab'])).rejects.toThrow('the locker has no a')
  })
})
