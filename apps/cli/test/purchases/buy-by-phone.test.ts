// Purchases that a wallet on a phone pays through a QR code.

import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { paySolanaPayUrl } from '@svc/devnet/solana-pay-wallet'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { signerFromSeed } from '@svc/sdk'
import { useMarket } from '@svc/sdk/test/market'
import { describe, expect, it } from 'vitest'
import { Interrupted } from '../../src/errors.ts'
import { run } from '../../src/run.ts'
import { exits, jsonLines, testHost } from '../host.ts'
import { useBuyerHome } from '../locker.ts'

const market = useMarket()
const home = useBuyerHome(market)

interface Bought {
  receipt_id: string
  receipt: SignedReceipt
  opened: boolean
}

interface Shown {
  payment_url: string
  expires_at: string
}

/** Starts `svc buy --qr`, and resolves when it has shown the payment. */
async function begin(args: string[], now = Date.now) {
  const { host, stdout, stderr } = testHost(home.env)
  const controller = new AbortController()
  const ended = run(['buy', '--qr', '--yes', '--json', ...args], { ...host, now, signal: controller.signal })
  await expect.poll(stdout).toMatch(/payment_url.*\n/)
  const [{ payment_url: url, expires_at }] = jsonLines<Shown>(stdout()) as [Shown]
  return {
    url,
    expires_at,
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
  it.each(['SOL', 'USDC'])(
    'PAY-51 finds and confirms the payment of a stock Solana Pay wallet in %s',
    { tags: ['nightly'] },
    async (asset) => {
      const purchase = await begin(['--asset', asset, '--name', `phone ${asset}`])
      const tx = await pay(purchase.url)
      const { receipt, receipt_id, opened } = await purchase.bought()
      expect(receipt).toMatchObject({
        tx_hash: tx,
        pay_asset: asset,
        payer_pubkey: signerFromSeed(DEMO_PAYERS[0]!.privateKeyBytes).address,
      })
      expect(opened).toBe(true)
      expect(await home.svc(['ls', '-l', receipt_id])).toMatchObject({ exitCode: 0 })
      expect(await home.svc(['buy', '--qr', '--name', `phone ${asset}`])).toMatchObject(exits(2, 'already bought'))
    },
  )

  it('PAY-51 PAY-52 resumes after an interruption, even if it was paid in the meantime', async () => {
    const first = await begin(['--asset', 'SOL', '--name', 'resumed'])
    first.interrupt()
    expect(await first.ended).toBe(130)
    const second = await begin(['--asset', 'SOL', '--name', 'resumed'])
    expect(second.url).toBe(first.url)
    second.interrupt()
    await second.ended
    const tx = await pay(first.url, 1)
    const again = ['buy', '--qr', '--yes', '--json', '--asset', 'SOL', '--name', 'resumed']
    const { exitCode, stdout } = await home.svc(again)
    const [bought] = jsonLines<Bought>(stdout)
    expect([exitCode, bought?.receipt.tx_hash, bought?.opened]).toEqual([0, tx, false])
  })

  it('PAY-51 PAY-52 finds a payment for an earlier code after it has shown a newer one', {
    tags: ['nightly'],
  }, async () => {
    const args = ['--asset', 'SOL', '--name', 'paid late']
    const first = await begin(args)
    first.interrupt()
    await first.ended
    const ahead = Date.parse(first.expires_at) - 30_000 - Date.now()
    const second = await begin(args, () => Date.now() + ahead)
    expect(second.url).not.toBe(first.url)
    const tx = await pay(first.url, 1)
    expect((await second.bought()).receipt.tx_hash).toBe(tx)
  })

  it('PAY-52 a name belongs to one order, within --max, and is paid once: by phone or from this machine', {
    tags: ['nightly'],
  }, async () => {
    const order = ['--asset', 'SOL', '--name', 'one order']
    const first = await begin(order)
    first.interrupt()
    await first.ended
    const resume = 'svc buy --qr --name "one order" --units 1 --asset SOL'
    expect(await home.svc(['buy', '--qr', '--yes', ...order, '--units', '2'])).toMatchObject(exits(2, resume))
    expect(await home.svc(['buy', '--qr', '--yes', ...order, '--max', '0.000001'])).toMatchObject(
      exits(1, 'more than --max'),
    )
    expect(await home.svc(['buy', '--yes', ...order])).toMatchObject(exits(2, resume))

    const here = ['--asset', 'SOL', '--name', 'from here']
    const { stdout } = await home.svc(['buy', '--yes', '--json', ...here])
    await home.svc(['lockers', 'rm', jsonLines<Bought>(stdout)[0]!.receipt_id])
    expect(await home.svc(['buy', '--qr', '--yes', ...here])).toMatchObject(exits(2, 'without --qr'))
  })

  it('T-59 shows no code for EVM wallets, whose payment anyone could claim', async () => {
    expect(await home.svc(['buy', '--qr', '--yes', '--asset', 'MON'])).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('pay from this machine'),
    })
  })

  it('PAY-51 asks before it shows a code of a development gateway, because a real payment would be lost', async () => {
    expect(await home.svc(['buy', '--qr'], { stdin: 'n\n', isTerminal: true })).toMatchObject(
      exits(1, 'a payment from a real wallet is lost'),
    )
    expect(await home.svc(['buy', '--qr', '--asset', 'SOL', '--max', '0.000001', '--yes'])).toMatchObject(
      exits(1, 'more than --max'),
    )
  })
})
