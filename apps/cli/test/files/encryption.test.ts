// Client-side encryption on the command line, against a real gateway.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { newIdentity, recipientOf } from '@svc/sdk/encryption'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Interrupted } from '../../src/errors.ts'
import { run } from '../../src/run.ts'
import { type LockerHome, newWallet, openLockerHome } from '../locker.ts'
import { jsonDocument, jsonLines, testWorld } from '../world.ts'

let home: LockerHome
beforeAll(async () => {
  home = await openLockerHome()
})
afterAll(() => home.leave())
afterEach(() => home.house.proxy.behave())

/** Short URLs of files. */
const READ = /^\/f\//
const inHome = (...parts: string[]) => join(home.folder, ...parts)
const statuses = (text: string) => Object.fromEntries(jsonLines(text).map(({ filename, status }) => [filename, status]))

async function folderOf(name: string, files: Record<string, string | Buffer>): Promise<string> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(dirname(inHome(name, file)), { recursive: true })
    await writeFile(inHome(name, file), content)
  }
  return inHome(name)
}

async function secretFile(name: string, content: string): Promise<string> {
  await writeFile(inHome(name), content, { mode: 0o600 })
  return inHome(name)
}

const svc = async (...args: string[]) => {
  const result = await home.svc(args)
  expect([result.exitCode, result.stderr.includes('error')], result.stderr + result.stdout).toEqual([0, false])
  return result
}

describe('encrypted with the wallet', () => {
  const large = Buffer.alloc(17 * 1024 * 1024, 'large')
  const FILES = { 'a.txt': 'a secret', 'sub/empty': '', 'large.bin': large }

  it('T-59 uploads ciphertext only, skips what is unchanged, and brings the plaintext back', async () => {
    const folder = await folderOf('plain', FILES)
    const first = await svc('put', folder, '--encrypt', '--json')
    expect(statuses(first.stdout)).toEqual({
      'a.txt.age': 'stored',
      'sub/empty.age': 'stored',
      'large.bin.age': 'stored',
    })
    expect(Object.values(statuses((await svc('put', folder, '--encrypt', '--json')).stdout))).toEqual(
      Array(3).fill('unchanged'),
    )
    expect((await svc('ls')).stderr).toContain('3 encrypted')

    const asStored = await svc('get', '-o', inHome('stored'))
    expect(asStored.stdout).toContain('✓ a.txt.age (encrypted)')
    expect(asStored.stderr).toContain('--decrypt')
    expect((await readFile(inHome('stored', 'a.txt.age'), 'latin1')).startsWith('age-encryption.org/v1\n')).toBe(true)

    await svc('get', '--decrypt', '-o', inHome('out'))
    for (const [name, content] of Object.entries(FILES))
      expect((await readFile(inHome('out', name))).equals(Buffer.from(content)), name).toBe(true)
    const again = await svc('get', '--decrypt', '-o', inHome('out'), '--json')
    expect(Object.values(statuses(again.stdout))).toEqual(Array(3).fill('unchanged'))
    expect(await readdir(inHome('out'))).toEqual(['a.txt', 'large.bin', 'sub'])
  })

  it('T-59 SESS-04 resumes a large upload with only the part that is missing', { tags: ['nightly'] }, async () => {
    const { proxy } = home.house
    const refusal = { error: 'service_unavailable', message: 'not now', request_id: 'r' }
    proxy.plan(/index=2&/, { answer: { status: 500, body: refusal } })
    const file = join(await folderOf('cut', { 'cut.bin': Buffer.alloc(17 * 1024 * 1024, 'cut') }), 'cut.bin')
    expect(await home.svc(['put', file, '--encrypt'])).toMatchObject({ exitCode: 1 })
    const before = proxy.seen.length
    await svc('put', file, '--encrypt')
    expect(proxy.seen.slice(before).flatMap(({ path }) => /index=(\d+)&/.exec(path)?.[1] ?? [])).toEqual(['2'])
    await svc('rm', 'cut.bin.age', '--yes')
  })

  it('T-59 ADD-06 resumes a download as it is stored, and starts one over that is decrypted', {
    tags: ['nightly'],
  }, async () => {
    const { proxy } = home.house
    const interrupted = async (...options: string[]) => {
      proxy.plan(READ, { cut: 9_000_000 }, { stall: 'request' })
      const before = proxy.seen.length
      const controller = new AbortController()
      const world = { ...testWorld(home.env).world, signal: controller.signal }
      const exitCode = run(['get', 'large.bin.age', '-o', inHome('broken'), ...options], world)
      const reads = () => proxy.seen.slice(before).filter(({ path }) => READ.test(path))
      await expect.poll(() => reads().length).toBe(2)
      controller.abort(new Interrupted('interrupted'))
      expect(await exitCode).toBe(130)
      proxy.behave()
      return readdir(inHome('broken'))
    }
    expect(await interrupted('--decrypt')).toEqual([])
    expect(await interrupted()).toEqual([expect.stringMatching(/\.part$/)])

    const decrypted = await svc('get', 'large.bin', '--decrypt', '-o', inHome('broken'))
    expect(decrypted.stderr).not.toContain('resuming')
    expect((await readFile(inHome('broken', 'large.bin'))).equals(large)).toBe(true)
    expect((await svc('get', 'large.bin.age', '-o', inHome('broken'))).stderr).toContain('large.bin.age: resuming at')
    expect(await readdir(inHome('broken'))).toEqual(['large.bin', 'large.bin.age'])
    const [stored, resumed] = await Promise.all(
      ['stored', 'broken'].map((folder) => readFile(inHome(folder, 'large.bin.age'))),
    )
    expect(stored && resumed?.equals(stored)).toBe(true)
  })

  it('T-59 ADD-23 sync copies encrypted files as they are, both ways', { tags: ['nightly'] }, async () => {
    await svc('sync', ':', inHome('synced'))
    const [stored, synced] = await Promise.all(
      ['stored', 'synced'].map((folder) => readFile(inHome(folder, 'a.txt.age'))),
    )
    expect(stored && synced?.equals(stored)).toBe(true)
    expect(Object.values(statuses((await svc('sync', inHome('synced'), ':', '--delete', '--json')).stdout))).toEqual(
      Array(3).fill('unchanged'),
    )
    const beside = await folderOf('beside', { 'a.txt': 'not encrypted' })
    await svc('sync', beside, ':')
    expect((await svc('cat', 'a.txt.age', '--decrypt')).stdout).toBe('a secret')
    await svc('rm', 'a.txt', '--yes')
  })

  it('T-59 gives plaintext only where that is asked for, and ciphertext only where that is', async () => {
    expect((await svc('cat', 'a.txt', '--decrypt')).stdout).toBe('a secret')
    expect((await svc('cat', 'a.txt.age', '--decrypt')).stdout).toBe('a secret')
    expect((await svc('cat', 'a.txt.age')).stdout).toContain('age-encryption.org/v1')
    expect(await home.svc(['cat', 'a.txt.age'], { isTerminal: true })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('a.txt.age is encrypted'),
    })
    expect(await home.svc(['get', 'a.txt', '-o', inHome('no')])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/there is no a\.txt\n.*a\.txt\.age, encrypted/),
    })
    await svc('get', 'a.txt', '--decrypt', '-o', inHome('one'))
    expect(await readFile(inHome('one', 'a.txt'), 'utf8')).toBe('a secret')
  })

  it('T-59 takes no plaintext for a file that was encrypted', async () => {
    await home.svc(['put', '-', '--as', 'forged.txt.age'], { stdin: 'not a secret' })
    const args = ['forged.txt.age', '--decrypt']
    const got = await home.svc(['get', ...args, '-o', inHome('forged')])
    expect([got.exitCode, got.stdout]).toEqual([1, expect.stringContaining('is not encrypted')])
    expect(await home.svc(['cat', ...args])).toMatchObject({ exitCode: 3, stdout: '' })
    expect(await readdir(inHome('forged'))).toEqual([])
    await svc('rm', 'forged.txt.age', '--yes')
  })

  it('T-59 says that another wallet does not fit, and writes nothing', async () => {
    const { file } = await newWallet(home.folder, 'stranger.json')
    const identity = await secretFile('other.txt', newIdentity())
    const { exitCode, stdout } = await home.svc(['get', 'a.txt', '--identity', identity, '-o', inHome('nothing')])
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('encrypted for another key')])
    expect(await readdir(inHome('nothing'))).toEqual([])
    expect((await home.svc(['cat', 'a.txt.age', '--public', '--decrypt', '--wallet', file])).stdout).toBe('')
  })

  it('T-59 replaces a file on disk only with --overwrite, and keeps two files of one name apart', {
    tags: ['nightly'],
  }, async () => {
    await folderOf('mine', { 'a.txt': 'my own words' })
    const args = ['get', 'a.txt', '--decrypt', '-o', inHome('mine')]
    expect(await home.svc(args)).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('with other bytes') })
    await svc(...args, '--overwrite')
    expect(await readFile(inHome('mine', 'a.txt'), 'utf8')).toBe('a secret')
    await home.svc(['put', '-', '--as', 'a.txt'], { stdin: 'not encrypted' })
    expect(await home.svc(['get', '--decrypt', '-o', inHome('both')])).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('both would be saved under that name'),
    })
    expect(await readFile(inHome('both', 'a.txt'), 'utf8')).toBe('not encrypted')
    await svc('rm', 'a.txt', '--yes')
  })

  it('T-59 leaves nothing behind where the stored file is damaged', { tags: ['nightly'] }, async () => {
    const whole = await readFile(inHome('stored', 'large.bin.age'))
    const folder = await folderOf('damaged', { 'cut-off.age': whole.subarray(0, 10 * 1024 * 1024) })
    await svc('put', folder)
    const { exitCode, stdout } = await home.svc(['get', 'cut-off', '--decrypt', '-o', inHome('partly')])
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('cut off or was changed')])
    expect(await readdir(inHome('partly'))).toEqual([])
    await svc('rm', 'cut-off.age', '--yes')
  })

  it('T-59 CLI-01 verifies the plaintext offline, with or without the ciphertext', { tags: ['nightly'] }, async () => {
    await svc('attest')
    await svc('bundle', '-o', inHome('bundle.json'))
    const verify = (...more: string[]) => home.svc(['verify', inHome('bundle.json'), '--json', ...more])
    const resultOf = async (...more: string[]) => {
      const { exitCode, stdout } = await verify(...more)
      const [bundle] = jsonDocument<{ bundles: [{ decryption?: object; failed: string[]; files: object }] }>(
        stdout,
      ).bundles
      return { exitCode, failed: bundle.failed, decryption: bundle.decryption, files: bundle.files }
    }
    expect(await resultOf('--dir', inHome('plain'), '--decrypt')).toMatchObject({
      exitCode: 0,
      failed: [],
      decryption: { decrypted: 0, compared: 0, encrypted_again: 3, failed: [] },
    })
    expect(await resultOf('--dir', inHome('stored'), '--decrypt')).toMatchObject({
      exitCode: 0,
      decryption: { decrypted: 3, compared: 0, encrypted_again: 0 },
    })
    await writeFile(inHome('stored', 'a.txt'), 'another secret')
    expect(await resultOf('--dir', inHome('stored'), '--decrypt')).toMatchObject({
      exitCode: 3,
      failed: [],
      decryption: { decrypted: 2, compared: 0, failed: [{ filename: 'a.txt.age', why: 'a.txt is not its plaintext' }] },
    })
    await writeFile(inHome('stored', 'a.txt'), 'a secret')
    expect(await resultOf('--dir', inHome('stored'), '--decrypt')).toMatchObject({
      exitCode: 0,
      decryption: { decrypted: 3, compared: 1 },
    })
    // Neither a folder nor a file that is not listed makes its neighbour a plaintext of the list.
    await folderOf('stored', { 'x.age/y': 'y', x: 'x', 'z.age': 'z', z: 'z' })
    expect(await resultOf('--dir', inHome('stored'), '--decrypt')).toMatchObject({
      exitCode: 3,
      files: { counts: { extra: 4 }, names: { extra: ['x', 'x.age/y', 'z', 'z.age'] } },
    })
    await writeFile(inHome('plain', 'a.txt'), 'a Secret')
    expect(await resultOf('--dir', inHome('plain'), '--decrypt')).toMatchObject({
      exitCode: 3,
      failed: ['files_match'],
    })
    expect(await verify('--decrypt')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--dir') })
  })
})

describe('encrypted with other keys', () => {
  it('T-59 takes an age key file and more recipients, each of whom can decrypt', async () => {
    const [mine, bobs] = [newIdentity(), newIdentity()]
    const own = await secretFile('own.txt', `# created: today\n${mine}\n`)
    const bob = await secretFile('bob.txt', bobs)
    const folder = await folderOf('shared', { 'b.txt': 'for both' })
    await svc('put', folder, '--identity', own, '--recipient', recipientOf(bobs))
    for (const file of [own, bob]) expect((await svc('cat', 'b.txt', '--identity', file)).stdout).toBe('for both')
    expect(await home.svc(['cat', 'b.txt', '--decrypt'])).toMatchObject({ exitCode: 1, stdout: '' })
    await svc('rm', 'b.txt.age', '--yes')
  })

  it('T-59 takes a passphrase from a file, and from standard input encrypts a stream', {
    tags: ['nightly'],
  }, async () => {
    const passphrase = await secretFile('passphrase', 'correct horse\n')
    const put = ['put', '-', '--as', 'piped.txt', '--passphrase-file', passphrase, '--quiet']
    expect(await home.svc(put, { stdin: 'piped' })).toMatchObject({ exitCode: 0 })
    expect((await svc('cat', 'piped.txt', '--passphrase-file', passphrase)).stdout).toBe('piped')
    const other = await secretFile('other-passphrase', 'wrong horse')
    expect(await home.svc(['cat', 'piped.txt', '--passphrase-file', other])).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('none that was given fits'),
    })
    await svc('rm', 'piped.txt.age', '--yes')
  })

  it('T-59 never sends the files of keys, and refuses those that others can read', async () => {
    const folder = await folderOf('with-key', { 'c.txt': 'c' })
    await writeFile(join(folder, 'age.key'), newIdentity(), { mode: 0o600 })
    const { stderr } = await svc('put', folder, '--identity', join(folder, 'age.key'))
    expect(stderr).toContain('left out: age.key (it holds your keys)')
    await svc('rm', 'c.txt.age', '--yes')
    await writeFile(inHome('open.key'), newIdentity(), { mode: 0o644 })
    expect(await home.svc(['put', folder, '--identity', inHome('open.key')])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('others can read'),
    })
  })

  it.each([
    ['a recipient that is none', ['--recipient', 'age1bob'], 'not an age recipient'],
    ['a passphrase with recipients', ['--passphrase', '--recipient', recipientOf(newIdentity())], 'either'],
    ['a wallet as an age key', ['--identity', 'owner.json'], 'no age identity'],
  ])('T-59 refuses %s before anything is sent', async (_, options, message) => {
    const folder = await folderOf('refused', { 'd.txt': 'd' })
    const before = home.house.proxy.seen.length
    const given = options.map((option) => (option === 'owner.json' ? inHome(option) : option))
    const { exitCode, stderr } = await home.svc(['put', folder, ...given])
    expect([exitCode === 0, stderr]).toEqual([false, expect.stringContaining(message)])
    expect(home.house.proxy.seen.length).toBe(before)
  })
})
