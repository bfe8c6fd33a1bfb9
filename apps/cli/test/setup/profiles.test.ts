import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Settings } from '../../src/setup/settings.ts'
import { exits, jsonDocument, jsonLines, openHome, type TestHome } from '../host.ts'
import { newWallet } from '../locker.ts'

let home: TestHome
beforeEach(async () => {
  home = await openHome()
  await home.svc(['config', 'set', 'gateway', 'https://first.example'])
})
afterEach(() => home.leave())

const RECEIPT = `rcpt_${'a'.repeat(32)}`

async function json<T>(args: string[], env: Record<string, string> = {}): Promise<T> {
  const { exitCode, stdout, stderr } = await home.svc([...args, '--json'], { env })
  expect([exitCode, stderr], args.join(' ')).toEqual([0, expect.any(String)])
  return jsonDocument<T>(stdout)
}
const gateway = async (args: string[] = [], env = {}) =>
  (await json<{ settings: Settings }>(['config', ...args], env)).settings.gateway?.value
const makeWork = (...more: string[]) =>
  home.svc(['profile', 'new', 'work', '--gateway', 'https://work.example/', ...more])

describe('a profile', () => {
  it('has its own gateway, wallet, lockers and pinned keys, and does not change the default profile', async () => {
    const { file, signer } = await newWallet(home.folder, 'work.json')
    expect(await makeWork('--wallet', file)).toMatchObject({ exitCode: 0 })
    await home.svc(['lockers', 'add', RECEIPT, '--name', 'photos'])
    const work = ['--profile', 'work']
    expect([await gateway(), await gateway(work)]).toEqual(['https://first.example', 'https://work.example'])
    const me = await json<{ wallets: { address: string }[]; lockers: number; profile: string }>(['whoami', ...work])
    expect(me).toMatchObject({ profile: 'work', wallets: [{ address: signer.address }], lockers: 0 })
    expect((await home.svc(['lockers', '--json', ...work])).stdout).toBe('')
    expect((await home.svc(['ls', '-l', 'photos', ...work])).stderr).toContain('no locker "photos" is known')
    const key = toHex(ed25519Signer(randomBytes(32)).publicKey)
    await home.svc(['keys', 'pin', key, ...work])
    expect((await json<{ pinned: unknown }>(['whoami', ...work])).pinned).toMatchObject({ keys: [key] })
    const elsewhere = ['whoami', '--gateway', 'https://work.example']
    expect((await json<{ pinned: unknown }>(elsewhere)).pinned).toBeNull()
    expect(jsonLines((await home.svc(['lockers', '--json'])).stdout)).toMatchObject([{ name: 'photos' }])
  })

  it('is chosen by option, then by SVC_PROFILE, then by `svc profile use`', async () => {
    await makeWork()
    await home.svc(['profile', 'new', 'play', '--gateway', 'https://play.example'])
    await home.svc(['profile', 'use', 'work'])
    expect(await gateway()).toBe('https://work.example')
    expect(await gateway([], { SVC_PROFILE: 'play' })).toBe('https://play.example')
    expect(await gateway(['--profile', 'default'], { SVC_PROFILE: 'play' })).toBe('https://first.example')
    const { profiles } = await json<{ profiles: { name: string; in_use: boolean }[] }>(['profile'])
    expect(profiles.map(({ name, in_use }) => [name, in_use])).toEqual([
      ['default', false],
      ['play', false],
      ['work', true],
    ])
    expect((await home.svc(['profile'])).stdout).toMatch(/work +https:\/\/work\.example +- +0 +in use/)
    await home.svc(['profile', 'use', 'default'])
    expect(await gateway()).toBe('https://first.example')
  })

  it('takes precedence over variables if an option names it, because they may belong to another gateway and wallet', async () => {
    const { file } = await newWallet(home.folder, 'work.json')
    await makeWork('--wallet', file)
    const env = { SVC_GATEWAY: 'https://variable.example', SVC_EVM_KEY: `0x${'11'.repeat(32)}` }
    expect(await gateway(['--profile', 'work'], env)).toBe('https://work.example')
    expect(await gateway([], { ...env, SVC_PROFILE: 'work' })).toBe('https://variable.example')
    expect(await gateway(['--profile', 'work', '--gateway', 'https://option.example'], env)).toBe(
      'https://option.example',
    )
    const { wallets } = await json<{ wallets: object[] }>(['whoami', '--profile', 'work'], env)
    expect(wallets).toMatchObject([{ from: file }])
  })

  it('is never replaced by another one: a missing profile is an error', async () => {
    for (const [args, env] of [
      [['--profile', 'gone', 'whoami'], {}],
      [['whoami'], { SVC_PROFILE: 'gone' }],
    ] as const) {
      const missing = await home.svc(args, { env })
      expect(missing).toMatchObject({ stdout: '', ...exits(2, 'the profile "gone"') })
    }
    expect((await home.svc(['profile', 'use', 'gone'])).exitCode).toBe(2)
    await writeFile(home.path('config', 'svc', 'profile.json'), '{"profile":"gone"}')
    expect((await home.svc(['whoami'])).stderr).toContain('svc profile use')
    expect((await home.svc(['profile', 'use', 'default'])).exitCode).toBe(0)
    expect((await home.svc(['whoami'])).exitCode).toBe(0)
  })

  it.each(['..', '.', 'a/b', '', '-x', 'a b', 'x'.repeat(33)])('cannot be called %j', async (name) => {
    expect((await home.svc(['--profile', name, 'whoami'])).exitCode).toBe(2)
    expect((await home.svc(['profile', 'new', '--', name])).exitCode).toBe(2)
  })

  it('is made once, and only with valid settings', async () => {
    await makeWork()
    expect(await makeWork()).toMatchObject(exits(2, 'already'))
    expect((await home.svc(['profile', 'new', 'default'])).exitCode).toBe(2)
    expect((await home.svc(['profile', 'new', 'bad', '--gateway', 'ftp://x'])).exitCode).toBe(2)
    expect((await home.svc(['--profile', 'bad', 'whoami'])).exitCode).toBe(2)
  })

  it('is removed after confirmation, but never with a wallet in it', async () => {
    await makeWork()
    await home.svc(['profile', 'use', 'work'])
    expect((await home.svc(['profile', 'rm', 'work'], { stdin: 'n\n', isTerminal: true })).exitCode).toBe(1)
    const key = home.path('config', 'svc', 'profiles', 'work', 'wallet.json')
    await writeFile(key, '[]')
    expect(await home.svc(['profile', 'rm', 'work', '--yes'])).toMatchObject(exits(1, 'wallet.json'))
    expect((await home.svc(['profile', 'rm', 'default', '--yes'])).exitCode).toBe(2)
    await home.svc(['profile', 'new', 'empty'])
    await home.svc(['profile', 'use', 'empty'])
    expect((await home.svc(['profile', 'rm', 'empty', '--yes'])).exitCode).toBe(0)
    expect(await gateway()).toBe('https://first.example')
  })

  it('keeps its journal of payments and its wallet in its own folder', async () => {
    await makeWork()
    const { folder } = await json<{ folder: string }>(['whoami', '--profile', 'work'])
    expect(folder).toBe(home.path('config', 'svc', 'profiles', 'work'))
    const { file } = await json<{ file: string }>(['wallet', 'new', '--profile', 'work'])
    expect(file).toBe(join(folder, 'wallet.json'))
    expect((await json<{ wallets: object[] }>(['whoami'])).wallets).toEqual([])
    await mkdir(home.path('config', 'svc', 'profiles', 'not a profile'))
    expect((await json<{ profiles: object[] }>(['profile'])).profiles).toHaveLength(2)
  })
})
