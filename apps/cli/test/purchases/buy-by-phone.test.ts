// Purchases that a wallet on a phone pays, by the QR code.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Signer } from '@svc/protocol/keys'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { signerFromSeed } from '@svc/sdk'
import { type Market, openMarket } from '@svc/sdk/test/market'
import { paySolanaPayUrl } from '@svc/sdk/test/solana-pay-wallet'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Interrupted } from '../../src/errors.ts'
import { run } from '../../src/run.ts'
import { jsonLines, openHome, type TestHome, testWorld } from '../world.ts'

let market: Market
let home: TestHome
beforeAll(async () => {
  market = await openMarket()
  const { proxy, chains } = market
  home = await openHome({ SVC_GATEWAY: proxy.url, SVC_PRIMARY_RPC: chains.primary.url, SVC_EVM_RPC: chains.evm.url })
  const seed = DEMO_PAYERS[0]!.privateKeyBytes
  const wallet = join(home.folder, 'id.json')
  await writeFile(wallet, JSON.stringify([...seed, ...ed25519Signer(seed).publicKey]), { mode: 0o600 })
  await home.svc(['config', 'set', 'wallet', wallet])
  await home.svc(['keys', 'pin', market.key])
})
afterAll(async () => {
  await market.close()
  await home.leave()
})

interface Bought {
  receipt_id: string
  receipt: SignedReceipt
  opened: boolean
}

/** Starts `svc buy --qr`, and resolves when it has shown what to pay. */
async function begin(...args: string[]) {
  const { world, stdout, stderr } = testWorld(home.env)
  const stdin = Object.assign(new PassThrough(), { isTTY: false })
  const controller = new AbortController()
  const ended = run(['buy', '--qr', '--yes', '--json', ...args], { ...world, stdin, signal: controller.signal })
  const url = await vi.waitFor(
    () => jsonLines<{ payment_url: string }>(stdout())[0]?.payment_url ?? expect.fail(`no URL yet: ${stderr()}`),
    { timeout: 20_000 },
  )
  return {
    url,
    stdin,
    stderr,
    interrupt: () => controller.abort(new Interrupted('interrupted')),
    ended,
    bought: async () => {
      expect(await ended, stderr()).toBe(0)
      return jsonLines<Bought>(stdout()).at(-1) as Bought
    },
  }
}

const pay = (url: string, payer = 0) => paySolanaPayUrl(market.chains.primary.url, DEMO_PAYERS[payer]!, url)

describe('svc buy --qr', () => {
  it.each(['SOL', 'USDC'])('PAY-51 finds and confirms what a stock Solana Pay wallet pays in %s', async (asset) => {
    const purchase = await begin('--asset', asset, '--name', `phone ${asset}`)
    const tx = await pay(purchase.url)
    const { receipt, receipt_id, opened } = await purchase.bought()
    expect(receipt).toMatchObject({
      tx_hash: tx,
      pay_asset: asset,
      payer_pubkey: signerFromSeed(DEMO_PAYERS[0]!.privateKeyBytes).address,
    })
    expect(opened).toBe(true)
    expect(await home.svc(['ls', '-l', receipt_id])).toMatchObject({ exitCode: 0 })
    expect(await home.svc(['buy', '--qr', '--name', `phone ${asset}`])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('bought already'),
    })
  })

  it('PAY-51 PAY-52 goes on after an interruption, also when it was paid meanwhile', async () => {
    const first = await begin('--asset', 'SOL', '--name', 'resumed')
    first.interrupt()
    expect(await first.ended).toBe(130)
    const second = await begin('--asset', 'SOL', '--name', 'resumed')
    expect(second.url).toBe(first.url)
    second.interrupt()
    await second.ended
    const tx = await pay(first.url, 1)
    const { exitCode, stdout } = await home.svc([
      'buy',
      '--qr',
      '--yes',
      '--json',
      '--asset',
      'SOL',
      '--name',
      'resumed',
    ])
    const [bought] = jsonLines<Bought>(stdout)
    expect([exitCode, bought?.receipt.tx_hash, bought?.opened]).toEqual([0, tx, false])
  })

  it('T-59 is not misled by a transaction that names the reference and pays too little', async () => {
    const purchase = await begin('--asset', 'SOL', '--name', 'misled')
    await pay(purchase.url.replace(/amount=[^&]+/, 'amount=0.00001'), 1)
    await vi.waitFor(() => expect(purchase.stderr()).toContain('does not pay this'), { timeout: 20_000 })
    const tx = await pay(purchase.url)
    expect((await purchase.bought()).receipt.tx_hash).toBe(tx)
  })

  it('PAY-51 takes the transaction of an EVM wallet, which cannot note a reference', async () => {
    const purchase = await begin('--asset', 'MON', '--name', 'phone MON')
    const [, to, value] = /^ethereum:(0x\w{40})@143\?value=(\d+)$/.exec(purchase.url) ?? []
    const payer = connectAs(DEV_PAYERS[1]!, market.chains.evm.url)
    const tx = await payer.sendTransaction({ to: to as `0x${string}`, value: BigInt(value as string) })
    purchase.stdin.end(`${tx}\n`)
    expect(await purchase.bought()).toMatchObject({ receipt: { tx_hash: tx, network: 'evm-mainnet' }, opened: false })
  })

  it('PAY-51 asks before it shows a code of a development gateway, which a real wallet would pay for nothing', async () => {
    expect(await home.svc(['buy', '--qr'], { stdin: 'n\n', isTerminal: true })).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('what a real wallet pays is lost'),
    })
    expect(await home.svc(['buy', '--qr', '--asset', 'SOL', '--max', '0.000001', '--yes'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('more than --max'),
    })
  })
})
