// Client-side encryption on the command line, against a real gateway.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newIdentity, recipientOf } from '@svc/sdk/encryption'
import { beforeAll, describe, expect, it } from 'vitest'
import { exits, includes, jsonDocument, jsonLines } from '../host.ts'
import { newWallet, useLockerHome } from '../locker.ts'

const home = useLockerHome()
const ok = (...args: string[]) => home.ok(...args)
const path = (...parts: string[]) => home.path(...parts)

const statuses = (text: string) => Object.fromEntries(jsonLines(text).map(({ filename, status }) => [filename, status]))

/** The options for an empty locker. */
const newLocker = async () => ['-l', (await home.testbed.locker(home.signer)).receipt_id]

async function secretFile(name: string, content: string): Promise<string> {
  await writeFile(path(name), content, { mode: 0o600 })
  return path(name)
}

describe('encrypted with the wallet', () => {
  const FILES = { 'a.txt': 'a secret', 'sub/empty': '' }
  let plain: string
  beforeAll(async () => {
    plain = await home.write('plain', FILES)
    await ok('put', plain, '--encrypt')
    await ok('get', '-o', path('stored'))
  })

  it('T-59 uploads ciphertext only, skips unchanged files, and restores the plaintext', async () => {
    const unchanged = { 'a.txt.age': 'unchanged', 'sub/empty.age': 'unchanged' }
    expect(statuses((await ok('put', plain, '--encrypt', '--json')).stdout)).toEqual(unchanged)
    expect((await ok('ls')).stderr).toContain('2 encrypted')
    const { stdout, stderr } = await ok('get', '-o', path('again'))
    expect([stdout, stderr]).toEqual([includes('✓ a.txt.age (encrypted)'), includes('--decrypt')])
    expect((await readFile(path('again', 'a.txt.age'), 'latin1')).startsWith('age-encryption.org/v1\n')).toBe(true)
    expect((await ok('get', '--decrypt', '-o', path('out'))).stdout).toContain('✓ a.txt.age → a.txt\n')
    for (const [name, content] of Object.entries(FILES))
      expect(await readFile(path('out', name), 'utf8'), name).toBe(content)
    const again = await ok('get', '--decrypt', '-o', path('out'), '--json')
    expect(Object.values(statuses(again.stdout))).toEqual(['unchanged', 'unchanged'])
    expect(await readdir(path('out'))).toEqual(['a.txt', 'sub'])
  })

  it('T-59 SESS-04 resumes a large upload with only the part that is missing', { tags: ['nightly'] }, async () => {
    const { proxy } = home.testbed
    const body = { error: 'service_unavailable', message: 'not now', request_id: 'r' }
    proxy.plan(/index=2$/, { answer: { status: 500, body } })
    const file = join(await home.write('cut', { 'cut.bin': Buffer.alloc(17 * 1024 * 1024, 'cut') }), 'cut.bin')
    const put = ['put', file, '--encrypt', ...(await newLocker())]
    expect(await home.svc(put)).toMatchObject({ exitCode: 1 })
    proxy.seen.length = 0
    expect((await ok(...put)).stderr).toMatch(/cut\.bin\.age: resuming at 16\.0 MiB of 17\.0 MiB/)
    expect(proxy.seen.flatMap(({ path }) => /index=(\d+)$/.exec(path)?.[1] ?? [])).toEqual(['2'])
  })

  it('T-59 ADD-23 sync copies encrypted files as they are, both ways', async () => {
    await ok('sync', ':', path('synced'))
    expect(await readFile(path('synced', 'a.txt.age'))).toEqual(await readFile(path('stored', 'a.txt.age')))
    const back = await ok('sync', path('synced'), ':', '--delete', '--json')
    expect(Object.values(statuses(back.stdout))).toEqual(['unchanged', 'unchanged'])
  })

  it('T-59 writes plaintext only with --decrypt, and ciphertext only where it is expected', async () => {
    expect((await ok('cat', 'a.txt', '--decrypt')).stdout).toBe('a secret')
    expect((await ok('cat', 'a.txt.age', '--decrypt')).stdout).toBe('a secret')
    expect((await ok('cat', 'a.txt.age')).stdout).toContain('age-encryption.org/v1')
    const shown = await home.svc(['cat', 'a.txt.age'], { isTerminal: true })
    expect(shown).toMatchObject(exits(1, 'a.txt.age is encrypted'))
    const missing = await home.svc(['get', 'a.txt', '-o', path('no')])
    expect(missing).toMatchObject(exits(1, /the locker has no a\.txt\n.*a\.txt\.age exists encrypted/))
    await ok('get', 'a.txt', '--decrypt', '-o', path('one', 'copy.age'))
    expect(await readFile(path('one', 'copy.age'), 'utf8')).toBe('a secret')
  })

  it('T-59 rejects plaintext under the name of an encrypted file', async () => {
    const locker = await newLocker()
    await home.svc(['put', '-', '--as', 'forged.txt.age', ...locker], { stdin: 'not a secret' })
    const args = ['forged.txt.age', '--decrypt', ...locker]
    const got = await home.svc(['get', ...args, '-o', path('forged/')])
    expect(got).toMatchObject({ exitCode: 1, stdout: includes('is not encrypted') })
    expect(await home.svc(['cat', ...args])).toMatchObject({ exitCode: 3, stdout: '' })
    expect(await readdir(path('forged'))).toEqual([])
  })

  it('T-59 reports the wrong key, and writes nothing', async () => {
    const { file } = await newWallet(home.folder, 'other.json')
    const identity = await secretFile('other.txt', newIdentity())
    const got = await home.svc(['get', 'a.txt', '--identity', identity, '-o', path('nothing/')])
    expect(got).toMatchObject({ exitCode: 1, stdout: includes('encrypted for another key') })
    expect(await readdir(path('nothing'))).toEqual([])
    expect((await home.svc(['cat', 'a.txt.age', '--public', '--decrypt', '--wallet', file])).stdout).toBe('')
  })

  it('T-59 replaces a file on disk only with --overwrite, and keeps two files of one name apart', async () => {
    const locker = await newLocker()
    await ok('put', plain, '--encrypt', ...locker)
    await home.write('mine', { 'a.txt': 'my own words' })
    const args = ['get', 'a.txt', '--decrypt', ...locker, '-o', path('mine')]
    expect(await home.svc(args)).toMatchObject({ exitCode: 1, stdout: includes('with other content') })
    await ok(...args, '--overwrite')
    expect(await readFile(path('mine', 'a.txt'), 'utf8')).toBe('a secret')
    await home.svc(['put', '-', '--as', 'a.txt', ...locker], { stdin: 'not encrypted' })
    const both = await home.svc(['get', '--decrypt', ...locker, '-o', path('both')])
    expect(both).toMatchObject({ exitCode: 1, stdout: includes('both would be saved under that name') })
    expect(await readFile(path('both', 'a.txt'), 'utf8')).toBe('not encrypted')
  })

  it('T-59 leaves nothing behind when the stored file is damaged', async () => {
    const locker = await newLocker()
    await ok('put', await home.write('large', { large: Buffer.alloc(300_000) }), '--encrypt', ...locker)
    await ok('get', 'large.age', ...locker, '-o', path('whole/'))
    const cut = (await readFile(path('whole', 'large.age'))).subarray(0, 200_000)
    await ok('put', await home.write('damaged', { 'cut-off.age': cut }), ...locker)
    const got = await home.svc(['get', 'cut-off', '--decrypt', ...locker, '-o', path('partly/')])
    expect(got).toMatchObject({ exitCode: 1, stdout: includes('truncated or was changed') })
    expect(await readdir(path('partly'))).toEqual([])
  })
})

describe('the plaintext of an attested locker', () => {
  let ciphertext: Buffer
  beforeAll(async () => {
    const locker = await newLocker()
    await ok('put', await home.write('attested', { 'a.txt': 'a secret', b: '' }), '--encrypt', ...locker)
    await ok('attest', ...locker)
    await ok('bundle', ...locker, '-o', path('bundle.json'))
    await ok('get', 'a.txt.age', 'b.age', ...locker, '-o', path('ciphertext'))
    ciphertext = await readFile(path('ciphertext', 'a.txt.age'))
  })

  interface Verified {
    bundles: [{ decryption: object; failed: string[]; files: object }]
  }

  it.each<[string, Record<string, string>, object]>([
    ['alone', { 'a.txt': 'a secret', b: '' }, { decryption: { decrypted: 0, encrypted_again: 2, failed: [] } }],
    ['that was changed', { 'a.txt': 'a Secret', b: '' }, { exitCode: 3, failed: ['files_match'] }],
    ['beside the ciphertext', { 'a.txt.age': '', 'a.txt': 'a secret', b: '' }, { decryption: { compared: 1 } }],
    [
      'beside another ciphertext',
      { 'a.txt.age': '', 'a.txt': 'another secret', b: '' },
      { exitCode: 3, decryption: { failed: [{ filename: 'a.txt.age', why: 'a.txt is not its plaintext' }] } },
    ],
    // The plaintext beside an unlisted file, or beside a folder, is unlisted too.
    [
      'beside unlisted files',
      { 'a.txt': 'a secret', b: '', 'x.age/y': 'y', x: 'x', 'z.age': 'z', z: 'z' },
      { exitCode: 3, files: { counts: { extra: 4 }, names: { extra: ['x', 'x.age/y', 'z', 'z.age'] } } },
    ],
  ])('T-59 CLI-01 is verified offline %s', async (name, files, expected) => {
    const held = 'a.txt.age' in files ? { ...files, 'a.txt.age': ciphertext } : files
    const dir = await home.write(name, held)
    const { exitCode, stdout } = await home.svc(['verify', path('bundle.json'), '--json', '--dir', dir, '--decrypt'])
    expect({ exitCode, ...jsonDocument<Verified>(stdout).bundles[0] }).toMatchObject({ exitCode: 0, ...expected })
  })

  it('T-59 CLI-01 is not needed when the ciphertext is in the folder, and --decrypt needs a folder', async () => {
    const verify = ['verify', path('bundle.json'), '--decrypt']
    const { bundles } = await home.json<Verified>(...verify, '--dir', path('ciphertext'))
    expect(bundles[0].decryption).toMatchObject({ decrypted: 2, compared: 0, encrypted_again: 0 })
    expect(await home.svc(verify)).toMatchObject(exits(2, '--dir'))
  })
})

describe('encrypted with other keys', () => {
  it('T-59 accepts an age key file and more recipients; each can decrypt', async () => {
    const locker = await newLocker()
    const [mine, bobs] = [newIdentity(), newIdentity()]
    const own = await secretFile('own.txt', `# created: today\n${mine}\n`)
    const bob = await secretFile('bob.txt', bobs)
    const folder = await home.write('shared', { 'b.txt': 'for both' })
    await ok('put', folder, '--identity', own, '--recipient', recipientOf(bobs), ...locker)
    for (const file of [own, bob])
      expect((await ok('cat', 'b.txt', '--identity', file, ...locker)).stdout).toBe('for both')
    expect(await home.svc(['cat', 'b.txt', '--decrypt', ...locker])).toMatchObject({ exitCode: 1, stdout: '' })
  })

  it('T-59 reads a passphrase from a file, and encrypts a stream from standard input', {
    tags: ['nightly'],
  }, async () => {
    const locker = await newLocker()
    const passphrase = await secretFile('passphrase', 'correct horse\n')
    const put = ['put', '-', '--as', 'piped.txt', '--passphrase-file', passphrase, '--quiet', ...locker]
    expect(await home.svc(put, { stdin: 'piped' })).toMatchObject({ exitCode: 0 })
    expect((await ok('cat', 'piped.txt', '--passphrase-file', passphrase, ...locker)).stdout).toBe('piped')
    const other = await secretFile('other-passphrase', 'wrong horse')
    const wrong = await home.svc(['cat', 'piped.txt', '--passphrase-file', other, ...locker])
    expect(wrong).toMatchObject({ stdout: '', ...exits(1, 'none of the given ones is correct') })
  })

  it('T-59 never uploads key files, and rejects key files that other users can read', async () => {
    const folder = path('with-key')
    await mkdir(folder)
    await writeFile(join(folder, 'age.key'), newIdentity(), { mode: 0o600 })
    const put = ['put', folder, ...(await newLocker()), '--identity']
    expect((await home.svc([...put, join(folder, 'age.key')])).stderr).toContain('age.key (it contains your keys)')
    await writeFile(path('open.key'), newIdentity(), { mode: 0o644 })
    expect(await home.svc([...put, path('open.key')])).toMatchObject(exits(1, 'other users can read'))
  })

  it.each([
    ['an invalid recipient', ['--recipient', 'age1bob'], 'not an age recipient'],
    ['a passphrase with recipients', ['--passphrase', '--recipient', recipientOf(newIdentity())], 'either'],
    ['a wallet as an age key', ['--identity', 'owner.json'], 'no age identity'],
  ])('T-59 rejects %s before anything is sent', async (_, options, message) => {
    const folder = await home.write('refused', { 'd.txt': 'd' })
    const given = options.map((option) => (option === 'owner.json' ? path(option) : option))
    const { exitCode, stderr } = await home.svc(['put', folder, ...given])
    expect([exitCode === 0, stderr]).toEqual([false, includes(message)])
    expect(home.testbed.proxy.seen).toEqual([])
  })
})
