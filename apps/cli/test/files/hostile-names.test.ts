// @module-tag nightly

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import { beforeAll, expect, it } from 'vitest'
import { foldingOf } from '../../src/files/same-names.ts'
import { jsonLines } from '../host.ts'
import { useLockerHome } from '../locker.ts'

const named = (isAccepted: boolean) =>
  HOSTILE_FILENAMES.filter(({ accepted }) => accepted === isAccepted).map(({ name }) => name)

const home = useLockerHome()
/** The names that the disk accepts. */
const onDisk: string[] = []

beforeAll(async () => {
  for (const name of named(true).filter((_, i) => i % 4 === 0)) if (await write(join(work(), name))) onDisk.push(name)
})

const work = (...path: string[]) => home.path('work', ...path)

/** Some names are too long for a disk, or need a folder where another one is a file. */
async function write(path: string): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, path.slice(work().length + 1), { flag: 'wx' })
    return true
  } catch {
    return false
  }
}

async function found(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((file) => join(file.parentPath, file.name).slice(folder.length + 1)).sort()
}

/** Runs `svc`; its output must not move the cursor, hide text or change its direction. */
async function svc(...args: string[]) {
  const ended = await home.svc(args)
  expect(`${ended.stdout}${ended.stderr}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  return ended
}

it('T-06 names survive the way from a disk to the locker and back, and none controls the terminal', async () => {
  expect(onDisk.length).toBeGreaterThan(80)
  expect(await svc('sync', work(), ':')).toMatchObject({ exitCode: 0 })
  const { stdout } = await svc('ls', '--json')
  const listed = jsonLines<{ filename: string }>(stdout).map(({ filename }) => filename)
  expect(listed.sort()).toEqual(onDisk.toSorted())
  expect(await svc('get', '-o', home.path('out'))).toMatchObject({ exitCode: 0 })
  expect(await found(home.path('out'))).toEqual(onDisk.toSorted())
  for (const name of onDisk) expect(await readFile(home.path('out', name), 'utf8')).toBe(name)
  for (const command of ['ls', 'du']) expect(await svc(command)).toMatchObject({ exitCode: 0 })
  for (const name of onDisk.filter((_, i) => i % 10 === 0))
    expect(await svc('stat', '--', name)).toMatchObject({ exitCode: 0 })
  await svc('stat', '--', '\u001b[2J\u202e')
})

it('T-06 an invalid name in the list of a gateway writes no file and does not control the terminal', async () => {
  const locker = ['-l', (await home.testbed.locker(home.signer)).receipt_id]
  await home.ok('put', await home.write('one', { a: 'a' }), ...locker)
  const before = await found(home.folder)
  for (const filename of named(false).filter((name, i) => i % 12 === 0 && name.length < 1000)) {
    home.testbed.proxy.behave()
    home.testbed.proxy.always(/manifest/, {
      lie: (body: { files: object[] }) => ({ ...body, files: [{ ...body.files[0], filename }] }),
    })
    expect(await svc('get', '-o', home.path('lied'), ...locker), JSON.stringify(filename)).toMatchObject({
      exitCode: 3,
    })
  }
  expect(await found(home.folder)).toEqual(before)
})

it('T-06 foldingOf treats names as equal exactly when this disk does', async () => {
  const folding = await foldingOf(home.folder)
  const pairs = [
    ['Pair', 'pair'],
    ['p\u00e9', 'pe\u0301'],
  ] as const
  for (const [first, second] of pairs) {
    await writeFile(home.path(first), '')
    const isOne = await readFile(home.path(second)).then(
      () => true,
      () => false,
    )
    expect(folding(first) === folding(second)).toBe(isOne)
  }
  expect(folding('a')).not.toBe(folding('b'))
})
