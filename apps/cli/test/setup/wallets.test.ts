import { readFile, stat } from 'node:fs/promises'
import { useMarket } from '@svc/sdk/test/market'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { exits, jsonDocument, openHome, type RunOptions, type TestHome } from '../host.ts'

const market = useMarket()

let home: TestHome
beforeEach(async () => {
  const { chains, proxy } = market
  const nodes = { SVC_PRIMARY_RPC: chains.primary.url, SVC_EVM_RPC: chains.evm.url }
  home = await openHome({ SVC_GATEWAY: proxy.url, ...nodes })
})
afterEach(() => home.leave())

interface SavedWallet {
  address: string
  file: string
  in_use: boolean
}

async function json<T>(args: string[], options: RunOptions = {}): Promise<T> {
  const { exitCode, stdout, stderr } = await home.svc([...args, '--json'], options)
  expect(exitCode, stderr + stdout).toBe(0)
  return jsonDocument<T>(stdout)
}

const ABANDON = `${'abandon '.repeat(11)}about`
const ABANDON_ADDRESS = 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk'

describe('svc wallet', () => {
  it('creates a key that later commands use, and a faucet fills it', async () => {
    expect(await home.svc(['wallet'])).toMatchObject(exits(2, 'svc wallet new'))
    const { address, file, in_use } = await json<SavedWallet>(['wallet', 'new'])
    expect(in_use).toBe(true)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await json(['wallet'])).toMatchObject({ wallets: [{ address, balances: [{ asset: 'SOL', amount: '0' }] }] })
    const held = [
      { asset: 'SOL', amount: '10' },
      { asset: 'USDC', amount: '100' },
    ]
    expect(await json(['faucet'])).toMatchObject({ address, balances: held })
    expect(await json(['wallet', 'show'])).toMatchObject({ wallets: [{ address, balances: held }] })
    const { stdout } = await home.svc(['wallet'])
    expect(stdout).toMatch(/on +local chain \(worthless coins\)\nholds +10 SOL, 100 USDC/)
  })

  it('creates and fills keys of the EVM chain', async () => {
    const { address } = await json<SavedWallet>(['wallet', 'new', '--evm'])
    expect(address).toMatch(/^0x[0-9a-f]{40}$/)
    expect(await json(['faucet', 'mon', '2.5'])).toMatchObject({ balances: [{ asset: 'MON', amount: '2.5' }] })
    expect(await home.svc(['faucet', 'mon', '1000000000'])).toMatchObject(exits(2, '999,999,999 at most'))
    expect(await json(['wallet'])).toMatchObject({
      wallets: [{ address, balances: [{ asset: 'MON', amount: '2.5' }] }],
    })
  })

  it('never overwrites a key, and does not change the wallet in use', async () => {
    const first = await json<SavedWallet>(['wallet', 'new'])
    const before = await readFile(first.file, 'utf8')
    expect(await home.svc(['wallet', 'new'])).toMatchObject(exits(2, '--out'))
    expect(await readFile(first.file, 'utf8')).toBe(before)
    const out = home.path('second.json')
    expect(await json<SavedWallet>(['wallet', 'new', '--out', out])).toMatchObject({ file: out, in_use: false })
    expect(await json(['whoami'])).toMatchObject({ wallets: [{ address: first.address }] })
  })

  it('imports words from a pipe, and a keypair from a file', async () => {
    const { file } = await json<SavedWallet>(['wallet', 'import'], { stdin: `${ABANDON}\n` })
    expect(await json(['whoami'])).toMatchObject({ wallets: [{ address: ABANDON_ADDRESS }] })
    const out = home.path('copy.json')
    expect(await json(['wallet', 'import', file, '--out', out])).toMatchObject({ address: ABANDON_ADDRESS })
    const evm = await json<SavedWallet>(['wallet', 'import', '--evm'], { stdin: ABANDON })
    expect(evm.address).toBe('0x9858effd232b4033e47d90003d41ec34ecaeda94')
  })

  it('rejects input that is not a key, and never shows it', async () => {
    const secret = `${ABANDON} secret`
    for (const stdin of ['', secret, '[1,2', '{"version":3}', '0x1234']) {
      const { exitCode, stdout, stderr } = await home.svc(['wallet', 'import'], {
        stdin,
        env: { SVC_KEYSTORE_PASSWORD: 'x' },
      })
      expect([exitCode, stdout]).toEqual([1, ''])
      expect(stderr).not.toContain('secret')
    }
    expect(await home.svc(['wallet', 'import', home.path('none')])).toMatchObject(exits(2, 'the file does not exist'))
    expect(await home.svc(['wallet', 'import', '--path', 'm/x'], { stdin: ABANDON })).toMatchObject({ exitCode: 1 })
  })

  it('explains an unknown balance, and offers no faucet for real chains', async () => {
    await json(['wallet', 'new'])
    const closed = await json(['wallet', '--primary-rpc', 'http://127.0.0.1:9'])
    expect(closed).toMatchObject({ wallets: [{ balances: null, problem: expect.stringContaining('127.0.0.1:9') }] })
    expect(await home.svc(['faucet', '--primary-rpc', 'https://node.example'])).toMatchObject(exits(2, 'real chains'))
    expect(await home.svc(['faucet', 'GOLD'])).toMatchObject(exits(1, 'SOL'))
    expect(await home.svc(['faucet', 'SOL', 'much'])).toMatchObject({ exitCode: 2 })
  })
})

describe('svc doctor', () => {
  interface Diagnosis {
    ok: boolean
    findings: { check: string; state: string; text: string; next: string | null }[]
  }

  async function examine(...args: string[]) {
    const { exitCode, stdout } = await home.svc(['doctor', '--json', ...args])
    const { ok, findings } = jsonDocument<Diagnosis>(stdout)
    expect(exitCode).toBe(ok ? 0 : 1)
    return new Map(findings.map((finding) => [finding.check, finding]))
  }

  it('finds what is missing at the beginning, and nothing once its advice is followed', {
    tags: ['nightly'],
  }, async () => {
    const first = await examine()
    expect(first.get('wallet')).toMatchObject({ state: 'failed', next: expect.stringContaining('svc wallet new') })
    expect(first.get('keys')).toMatchObject({ state: 'warning', next: '`svc keys pin`' })
    await home.ok('wallet', 'new')
    await home.ok('keys', 'pin')
    const { state, next } = (await examine()).get('balance')!
    expect([state, next]).toEqual(['warning', expect.stringContaining('svc faucet')])
    await home.ok('faucet')
    const last = await examine()
    expect([...last.values()].filter(({ state }) => state !== 'ok')).toEqual([])
    expect([...last.keys()]).toEqual(['svc', 'gateway', 'versions', 'clock', 'keys', 'wallet', 'node', 'balance'])
    expect(last.get('versions')?.text).toBe('svc and the gateway use version 1.0.0 of the interface')
    expect((await home.svc(['doctor'])).stdout).toMatch(/^✓ svc +version/)
  })

  it('reports a wrong clock, an unhealthy or missing gateway, and a node of another chain', async () => {
    await json(['wallet', 'new'])
    const { proxy, chains } = market
    proxy.always(/health/, { lie: (body) => ({ ...body, time: '2020-01-01T00:00:00Z', version: '9.0.0' }) })
    const lied = await examine()
    expect(lied.get('clock')).toMatchObject({ state: 'failed', next: expect.stringContaining('NTP') })
    expect(lied.get('versions')).toMatchObject({ state: 'warning', text: expect.stringContaining('9.0.0') })
    proxy.behave()
    proxy.always(/health/, { lie: (body) => ({ ...body, status: 'degraded', providers: { gcs: 'failing' } }) })
    expect((await examine()).get('gateway')).toMatchObject({ state: 'warning', text: expect.stringContaining('gcs') })
    proxy.behave()
    expect((await examine('--gateway', 'http://127.0.0.1:9')).get('gateway')).toMatchObject({ state: 'failed' })
    expect((await examine('--primary-rpc', chains.evm.url)).get('node')).toMatchObject({ state: 'warning' })
    expect((await examine('--primary-rpc', 'http://127.0.0.1:9')).get('node')).toMatchObject({ state: 'warning' })
  })
})
