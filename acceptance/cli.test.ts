// @module-tag nightly

// The `svc` command: one process per command, wallets in files, a real gateway and local chains.

import { createPrivateKey } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { DEMO_PAYERS, TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { call as ask } from '@svc/devnet/primary-chain/dev-client'
import { startProcess } from '@svc/devnet/start-process'
import { sortedByFilename } from '@svc/protocol/order'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { useNpmStart } from './npm-start.ts'

const main = new URL('../apps/cli/bin/svc.mjs', import.meta.url)

const service = useNpmStart()
let proxy: FaultyProxy
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-acceptance-'))
  proxy = await startFaultyProxy(service.gateway)
})
afterAll(async () => {
  await proxy.stop()
  await rm(folder, { recursive: true })
})

/** The computer of one user: a wallet and a home folder. */
function machine(name: string, variables: Record<string, string>) {
  const env = {
    HOME: join(folder, name),
    XDG_CACHE_HOME: join(folder, 'cache'),
    SVC_GATEWAY: service.gateway,
    SVC_PRIMARY_RPC: service.primaryChain,
    SVC_EVM_RPC: service.evmChain,
    ...variables,
  }
  const start = (...args: string[]) => startProcess(main, { args, env })
  const run = (...args: string[]) => start(...args).ended

  /** The JSON documents that a command prints; any exit code but 0 fails the test. */
  async function json(...args: string[]) {
    const { code, stdout, stderr } = await run(...args, '--json')
    expect(code, `svc ${args.join(' ')}\n${stdout}${stderr}`).toBe(0)
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }

  return { start, run, json }
}

async function solanaWallet(payer: number): Promise<string> {
  const seed = DEMO_PAYERS[payer]!.privateKeyBytes
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const { x = '' } = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
  const file = join(folder, `payer-${payer}.json`)
  await writeFile(file, JSON.stringify([...seed, ...Buffer.from(x, 'base64url')]), { mode: 0o600 })
  return file
}

async function lamportsOf(address: string): Promise<number> {
  const { result } = await ask(service.primaryChain, 'getBalance', [address, { commitment: 'processed' }])
  return (result as { value: number }).value
}

const OFFLINE = ['--require', 'merkle_root_matches,files_match,signature_valid,key_pinned']

describe('svc', () => {
  it('GEN-09 CLI-01 buys with SOL, uploads, attests, and writes evidence that a third party verifies', async () => {
    const { run, json } = machine('solana', { SVC_WALLET: await solanaWallet(2) })
    const files = join(folder, 'files')
    await mkdir(join(files, 'sub'), { recursive: true })
    await writeFile(join(files, 'a.txt'), 'the sum is 100')
    await writeFile(join(files, 'sub/b ü.bin'), Buffer.alloc(100_000, 7))

    await json('keys', 'pin')
    const [bought] = await json('buy', '--asset', 'SOL', '--name', 'photos', '--yes')
    expect(bought).toMatchObject({
      name: 'photos',
      receipt: { pay_asset: 'SOL', payer_pubkey: DEMO_PAYERS[2]!.address },
    })
    // They are stored concurrently.
    expect(sortedByFilename(await json('put', files))).toMatchObject([
      { filename: 'a.txt', status: 'stored' },
      { filename: 'sub/b ü.bin', status: 'stored', size_bytes: 100_000 },
    ])
    const [ls, got, attested] = [await json('ls'), await json('get', '-o', join(folder, 'out')), await json('attest')]
    expect(ls.map(({ filename, status }) => [filename, status])).toEqual([
      ['a.txt', 'confirmed'],
      ['sub/b ü.bin', 'confirmed'],
    ])
    expect(got).toMatchObject([{ status: 'saved' }, { status: 'saved' }])
    expect(await readFile(join(folder, 'out/sub/b ü.bin'))).toEqual(Buffer.alloc(100_000, 7))
    expect(attested).toMatchObject([{ attestation: { file_count: 2 } }])
    // The gateway waits for its transaction only for a limited time, which may be too short on a busy machine.
    const isPublished = async () => ['pushed', 'already_anchored'].includes((await json('push'))[0].status)
    await vi.waitUntil(isPublished, { timeout: 150_000, interval: 500 })

    const bundle = join(folder, 'bundle.json')
    await json('bundle', '-o', bundle)
    const verified = await run('verify', bundle, '--dir', join(folder, 'out'), ...OFFLINE)
    expect(verified).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('✓ key_pinned') })
    const [online] = await json('verify', bundle, '--rpc', service.primaryChain)
    expect(online.bundles[0].facts).toMatchObject({ anchor_payload_matches: { value: 'passed' } })
    await writeFile(join(folder, 'out/a.txt'), 'the sum is 900')
    const tampered = await run('verify', bundle, '--dir', join(folder, 'out'), ...OFFLINE)
    expect(tampered).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^FAILED: a\.txt differs \(files_match\)\n/),
    })
  })

  it('GEN-09 PAY-51 pays in MON with a key from the environment after asking', async () => {
    const { run, json } = machine('evm', { SVC_EVM_KEY: DEV_PAYERS[2]!.privateKey })
    const unasked = await run('buy', '--asset', 'MON')
    expect(unasked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--yes') })
    const [{ receipt, locker_id }] = await json('buy', '--asset', 'MON', '--yes')
    expect(receipt).toMatchObject({ pay_asset: 'MON', network: 'evm-mainnet', sig_alg: 'secp256k1' })
    expect(await json('lockers')).toMatchObject([{ locker_id, owner: DEV_PAYERS[2]!.address.toLowerCase() }])
    expect(await json('receipt', '--payment')).toEqual([receipt])
    expect(await json('ls')).toEqual([])
  })

  it('PAY-52 continues after it was killed during a payment, and pays nothing twice', async () => {
    const { start, json } = machine('killed', { SVC_WALLET: await solanaWallet(3), SVC_GATEWAY: proxy.url })
    const before = await lamportsOf(TREASURY.address)
    // The first request asks whether the purchase was already paid; all later requests get no answer.
    proxy.plan(/storage\/confirm/, { lie: (body) => body })
    proxy.always(/storage\/confirm/, { cut: 'request' })
    const killed = start('buy', '--asset', 'SOL', '--yes')
    const isPaid = async () => (await lamportsOf(TREASURY.address)) > before
    const wasAsked = () => proxy.seen.filter(({ path }) => path.includes('confirm')).length > 1
    await expect.poll(async () => (await isPaid()) && wasAsked(), { interval: 100 }).toBe(true)
    await killed.kill()
    const paid = (await lamportsOf(TREASURY.address)) - before
    proxy.behave()
    const [{ receipt }] = await json('buy', '--asset', 'SOL', '--yes')
    expect([receipt.paid_raw, await lamportsOf(TREASURY.address)]).toEqual([String(paid), before + paid])
  })

  it('PAY-56 VER-01 reports and rejects a false receipt of a gateway', async () => {
    const { run, json } = machine('lied to', { SVC_WALLET: await solanaWallet(0), SVC_GATEWAY: proxy.url })
    await json('buy', '--yes')
    proxy.always(/v1\/receipts/, { lie: (body) => ({ ...body, paid_amount: '1000000' }) })
    const lied = await run('receipt')
    proxy.behave()
    expect(lied).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('the service gave a false answer'),
    })
    expect(lied.stderr).toContain('signature of the receipt')
  })

  it('answers wrong usage with exit code 2 and one line, and rejects key files that others can read', async () => {
    const wallet = join(folder, 'readable.json')
    await writeFile(wallet, '[]', { mode: 0o644 })
    const { run } = machine('wrong', { SVC_WALLET: wallet })
    const [wrong, readable] = await Promise.all([run('buy', '--units', 'many'), run('whoami')])
    expect(wrong).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^svc buy: .*--units.* See: svc buy --help\n$/),
    })
    expect(readable).toMatchObject({ code: 1, stderr: expect.stringContaining(`chmod 600 ${wallet}`) })
  })
})

describe('svc and the agent service', () => {
  it('AGENT-03 AGENT-04 buys thirty days, delegates a locker, and reads the signed log of its watch', async () => {
    const variables = { SVC_WALLET: await solanaWallet(1), SVC_AGENT: service.agent }
    const { run, json } = machine('subscriber', variables)
    const files = join(folder, 'watched')
    await mkdir(files)
    await writeFile(join(files, 'kept.txt'), 'as it was')
    await json('buy', '--yes')
    await json('put', files)

    const refused = await run('delegate')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('svc subscribe')])
    const [subscribed] = await json('subscribe', '--yes')
    expect(subscribed).toMatchObject({ subscription: { status: 'active', identity: DEMO_PAYERS[1]!.address } })
    const [{ delegation_id }] = (await json('delegate')) as [{ delegation_id: string }]
    const delegation = async () => (await json('delegations', delegation_id))[0]
    await expect.poll(async () => (await delegation()).runs).toMatchObject([{ task: 'watch', outcome: 'done' }])
    expect(await delegation()).toMatchObject({ status: 'active', log: [{ kind: 'baseline', detail: { files: 1 } }] })

    await json('delegations', '--end', delegation_id)
    expect(await delegation()).toMatchObject({ status: 'ended', findings: 1 })
    const [{ operators }] = await json('operators')
    expect(operators).toEqual([])
  })
})
