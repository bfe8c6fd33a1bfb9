// Purchases on both chains, with and without a terminal.

import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Price, Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Signer } from '@svc/protocol/keys'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { fileJournal } from '@svc/sdk/node'
import { type Market, openMarket } from '@svc/sdk/test/market'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { jsonDocument, jsonLines, openHome, type TestHome } from '../world.ts'

interface Bought {
  receipt_id: string
  receipt: SignedReceipt
}

let market: Market
let home: TestHome
beforeAll(async () => {
  market = await openMarket()
  const { proxy, chains } = market
  home = await openHome({
    SVC_GATEWAY: proxy.url,
    SVC_PRIMARY_RPC: chains.primary.url,
    SVC_EVM_RPC: chains.evm.url,
    SVC_EVM_KEY: DEV_PAYERS[0]!.privateKey,
  })
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
afterEach(() => market.proxy.behave())

/** The amount of an asset that the treasury receives while `work` runs. */
async function received(asset: Parameters<Market['treasury']>[0], work: () => Promise<void>): Promise<bigint> {
  const before = await market.treasury(asset)
  await work()
  return (await market.treasury(asset)) - before
}

describe('svc quote', () => {
  it('PAY-01 shows the price in every asset', async () => {
    const { stdout } = await home.svc(['quote', '--units', '3'])
    expect(stdout).toMatch(/3 × gcs: .* for 0\.75 USD/)
    expect(stdout).toContain('do not send real money')
    expect(stdout).toMatch(/^ *0\.75 {2}USDC +solana:/m)
    expect(stdout).toMatch(/^ *0\.75 {2}USDC +eip155:143/m)
    expect(jsonDocument<Quote>((await home.svc(['quote', '--json', '--asset', 'usdt'])).stdout).accepts).toHaveLength(1)
  })

  it('PAY-01 counts a folder as put would take it, and says how many units it needs', async () => {
    const folder = join(home.folder, 'to-keep')
    await mkdir(folder)
    for (let i = 0; i < 3; i++) await writeFile(join(folder, `${i}.txt`), 'abc')
    await writeFile(join(folder, 'big.tmp'), 'left out')
    const { stdout, stderr } = await home.svc(['quote', folder, '--exclude', '*.tmp'])
    expect(stdout).toMatch(/^3 files, 9 B in .*to-keep: 1 unit\n1 × gcs/)
    expect(stderr).toContain('`svc buy --asset …`')
    market.proxy.always(/v1\/price/, {
      lie: (price: Price) => ({
        ...price,
        providers: { gcs: { unit_price_usd: 1, terms: { ...price.providers.gcs?.terms, file_limit: 2 } } },
      }),
    })
    const second = await home.svc(['quote', folder, '--exclude', '*.tmp', '--json'])
    expect(jsonDocument(second.stdout)).toMatchObject({
      estimate: { files: 3, size_bytes: 9, units: 2, limited_by: 'files' },
      extensions: { svc: { price_summary: { units: 2 } } },
    })
    expect(await home.svc(['quote', join(home.folder, 'nowhere')])).toMatchObject({ exitCode: 2 })
  })
})

describe('svc buy', () => {
  it('PAY-51 pays no more than --max, even with --yes', async () => {
    const buy = (...more: string[]) => home.svc(['buy', '--yes', '--name', 'limited', ...more])
    const nothing = await received('USDC', async () => {
      const { exitCode, stderr } = await buy('--asset', 'USDC', '--max', '0.2499999')
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('more than --max 0.2499999. Nothing was paid')])
      expect((await buy('--max', '5')).stderr).toContain('--max needs --asset')
      expect((await buy('--asset', 'USDC', '--max', '1e3')).exitCode).toBe(2)
    })
    const paid = await received('USDC', async () => {
      expect((await buy('--asset', 'USDC', '--max', '0.25')).exitCode).toBe(0)
    })
    expect([nothing, paid]).toEqual([0n, 250_000n])
  })

  it('PAY-06 PAY-52 takes another order under a name that was asked for but not paid', async () => {
    const buy = (...more: string[]) => home.svc(['buy', '--name', 'undecided', ...more], { isTerminal: true })
    expect((await buy('--asset', 'SOL')).stderr).toContain('Nothing was paid')
    const paid = await received('USDC', async () => {
      expect((await buy('--asset', 'USDC', '--units', '2', '--yes')).exitCode).toBe(0)
    })
    expect(paid).toBe(500_000n)
    const third = await buy('--asset', 'USDC', '--units', '3', '--yes')
    expect([third.exitCode, third.stderr]).toEqual([1, expect.stringContaining('Another order needs another name')])
  })

  it.each(['operator', '11111111111111111111111111111111', `0x${'ab'.repeat(20)}`])(
    'ADD-04 T-41 rejects the operator %s before anything is paid',
    async (operator) => {
      const nothing = await received('USDC', async () => {
        const { exitCode, stderr } = await home.svc(['buy', '--asset', 'USDC', '--operator', operator, '--yes'])
        expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Ed25519 public key')])
      })
      expect(nothing).toBe(0n)
    },
  )

  it('T-41 ADD-16 rejects a name that the locker could not keep, before any request', async () => {
    const names = ['', 'n'.repeat(60), 'n'.repeat(300), 'a\nb', 'a/b', 'a:b', '📷', '-x', 'rcpt_1']
    const before = market.proxy.seen.length
    const nothing = await received('USDC', async () => {
      for (const name of names)
        for (const qr of [[], ['--qr']]) {
          const bought = await home.svc(['buy', '--asset', 'USDC', '--yes', ...qr, `--name=${name}`])
          expect([name, bought.exitCode, bought.stderr]).toEqual([name, 2, expect.stringContaining('1 to 59 letters')])
        }
      const tags = Array.from({ length: 32 }, (_, i) => `tag-${i}`).join(',')
      for (const more of [
        ['--tag', tags],
        ['--tag', 't'.repeat(65), '--qr'],
      ])
        expect((await home.svc(['buy', '--yes', '--name', 'many', ...more])).exitCode).toBe(2)
      expect((await home.svc(['provision', `rcpt_${'0'.repeat(32)}`, '--name', 'a/b'])).exitCode).toBe(2)
    })
    expect([nothing, market.proxy.seen.length - before]).toEqual([0n, 0])
  })

  it('PAY-52 goes on with a purchase under a name that is not allowed any more', async () => {
    const { signer, wallet } = market.solana()
    const journal = fileJournal(join(home.folder, 'config', 'svc', 'journal'))
    const client = market.client({ signer, journal, baseUrl: market.proxy.url })
    const order = { units: 1, asset: 'USDC', intent: 'a/b', wallet }
    const paid = await received('USDC', async () => {
      const body = { error: 'receipt_not_found', message: 'not yet', request_id: 'r' }
      market.proxy.always(/signed_provision/, { answer: { status: 404, body } })
      await expect(client.buy(order)).rejects.toMatchObject({ money: 'moved' })
      market.proxy.behave()
      const resumed = await home.svc(['buy', '--asset', 'USDC', '--yes', '--name', 'a/b'])
      expect([resumed.exitCode, resumed.stderr]).toEqual([0, expect.stringContaining('already paid')])
    })
    expect(paid).toBe(250_000n)
  })

  it('PAY-51 shows the price and asks; "no" pays nothing, "yes" buys', async () => {
    const buy = (answer: string) => home.svc(['buy', '--asset', 'USDC'], { stdin: answer, isTerminal: true })
    expect(
      await received('USDC', async () => {
        const { exitCode, stderr } = await buy('n\n')
        expect(exitCode).toBe(1)
        expect(stderr).toMatch(/pay +0\.25 USDC\nto +\w+\non +solana:\w+\nfrom +\w+ \(.*id\.json\)/)
        expect(stderr).toContain('Pay 0.25 USDC? [y/N]')
        expect(stderr).toContain('Nothing was paid')
      }),
    ).toBe(0n)
    expect(
      await received('USDC', async () => {
        const { exitCode, stdout } = await buy('y\n')
        expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/paid +0\.25 USDC .*\n(.*\n)*receipt +rcpt_\w+/)])
      }),
    ).toBe(250_000n)
  })

  it('T-46 shows the most that the network may charge before it asks', async () => {
    const fee = async (asset: string) => {
      const { stderr } = await home.svc(['buy', '--asset', asset], { stdin: 'n\n', isTerminal: true })
      return /^fee +at most ([\d.]+ \w+) to the network/m.exec(stderr)?.[1]
    }
    expect(await fee('MON')).toMatch(/^0\.0*[1-9]\d* MON$/)
    expect(await fee('SOL')).toBe('0.000005 SOL')
  })

  it('T-46 pays no network fee with --yes that nobody would expect', async () => {
    const node = await startFaultyProxy(market.chains.evm.url)
    const dear = (answer: { result: { baseFeePerGas?: string } | string }) =>
      typeof answer.result === 'object' && answer.result.baseFeePerGas
        ? { ...answer, result: { ...answer.result, baseFeePerGas: '0x1000000000000' } }
        : answer
    node.always(/eth_getBlockByNumber/, { lie: (answers: Parameters<typeof dear>[0][]) => answers.map(dear) })
    const env = { SVC_EVM_RPC: node.url }
    const nothing = await received('MON', async () => {
      const { exitCode, stderr } = await home.svc(['buy', '--asset', 'MON', '--yes'], { env })
      expect([exitCode, stderr]).toEqual([
        1,
        expect.stringMatching(/the network fee is at most \d.* MON, more than --yes pays/),
      ])
      expect(stderr).toContain('Nothing was paid')
    })
    await node.stop()
    expect(nothing).toBe(0n)
  })

  it('PAY-52 pays once for a name, however often the command is repeated', async () => {
    const paid = await received('SOL', async () => {
      const args = ['buy', '--asset', 'SOL', '--name', 'photos', '--yes']
      const first = jsonDocument<Bought>((await home.svc([...args, '--json'])).stdout)
      const again = await home.svc(args)
      expect([again.stdout, again.stderr]).toEqual([
        expect.stringContaining(first.receipt_id),
        expect.stringContaining('nothing was paid now'),
      ])
      const other = await home.svc([...args, '--units', '2'])
      expect(other).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(`"photos" is finished.*${first.receipt_id}.*Nothing was paid`),
      })
    })
    const again = await home.svc(['buy', '--asset', 'SOL', '--name', 'photos', '--json'])
    const { receipt } = jsonDocument<Bought>(again.stdout)
    expect(paid).toBe(BigInt(receipt.paid_raw))
  })

  it('PAY-51 pays with the key of the chain that has the asset, and opens the locker for that key', async () => {
    const { stdout } = await home.svc(['buy', '--asset', 'MON', '--yes', '--name', 'on-evm', '--tag', 'a,b', '--json'])
    const { receipt, receipt_id } = jsonDocument<Bought>(stdout)
    expect(receipt).toMatchObject({ payer_pubkey: DEV_PAYERS[0]!.address.toLowerCase(), network: 'evm-mainnet' })
    expect(await home.svc(['ls', '-l', 'on-evm'])).toMatchObject({ exitCode: 0 })
    const wallet = ['--wallet', join(home.folder, 'evm-key')]
    await writeFile(join(home.folder, 'evm-key'), DEV_PAYERS[0]!.privateKey, { mode: 0o600 })
    const [manifest] = jsonLines((await home.svc(['provision', receipt_id, ...wallet, '--json'])).stdout)
    expect(manifest).toMatchObject({ already_provisioned: true, tags: ['a', 'b', 'name:on-evm'] })
    expect(await home.svc(['receipt', receipt_id, '--payment'])).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('The chain says the same'),
    })
  })

  it('PAY-52 resumes an unfinished purchase when the same order is repeated', async () => {
    const buy = () => home.svc(['buy', '--asset', 'USDC', '--yes'])
    const paid = await received('USDC', async () => {
      market.proxy.always(/signed_provision/, {
        answer: { status: 409, body: { error: 'LOCKER_ID_COLLISION', message: 'no', hint: 'wait', request_id: 'r' } },
      })
      const { exitCode, stderr } = await buy()
      expect([exitCode, stderr]).toEqual([
        4,
        expect.stringMatching(/paid, but not finished.*\(payment \w+\)\nhint: {2}wait; then run/s),
      ])
      market.proxy.behave()
      const other = await home.svc(['buy', '--asset', 'BETA'], { stdin: 'n\n', isTerminal: true })
      expect(other.stderr).toContain('an earlier purchase is not finished: --units 1 --asset USDC')
      const again = await buy()
      expect([again.exitCode, again.stderr]).toEqual([0, expect.stringMatching(/Resuming.*nothing was paid now/s)])
    })
    expect(paid).toBe(250_000n)
  })

  it('PAY-52 reports a paid locker that it cannot save locally, and does not pay for it again', async () => {
    const buy = () => home.svc(['buy', '--asset', 'USDC', '--yes'])
    const lockers = join(home.folder, 'config', 'svc', 'lockers')
    const paid = await received('USDC', async () => {
      await rename(lockers, `${lockers}-away`)
      await writeFile(lockers, 'in the way')
      const { exitCode, stderr } = await buy()
      expect([exitCode, stderr]).toEqual([
        4,
        expect.stringMatching(/paid, but not finished.*run the same command again/s),
      ])
      await rm(lockers)
      await rename(`${lockers}-away`, lockers)
      expect(await buy()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('nothing was paid now') })
    })
    expect(paid).toBe(250_000n)
  })

  it('PAY-51 pays nothing when the journal cannot be written, and says so', async () => {
    const config = join(home.folder, 'unwritable')
    await mkdir(join(config, 'svc'), { recursive: true })
    await writeFile(join(config, 'svc', 'journal'), 'in the way')
    const wallet = ['--wallet', join(home.folder, 'id.json')]
    const { exitCode, stderr } = await home.svc(['buy', '--asset', 'USDC', '--yes', ...wallet], {
      env: { XDG_CONFIG_HOME: config },
    })
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/cannot be recorded: .*\. Nothing was paid/)])
  })

  it.each<[string, (leg: PaymentLeg) => PaymentLeg, string]>([
    ['decimals', (leg) => ({ ...leg, extra: { ...leg.extra, decimals: 9 } }), 'with 9 decimals; USDC is'],
    ['the asset', (leg) => ({ ...leg, asset: '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs' }), 'the quote calls'],
    ['the amount', (leg) => ({ ...leg, amount: `${leg.amount}00` }), 'the quote shows 1.25 USDC where it asks for'],
  ])('PAY-25 pays nothing to a gateway whose quote is untrue about %s', async (_, lie, why) => {
    market.proxy.always(/storage\/request/, {
      lie: (quote: Quote) => ({ ...quote, accepts: quote.accepts.map(lie) }),
    })
    const paid = await received('USDC', async () => {
      const { exitCode, stderr } = await home.svc(['buy', '--asset', 'USDC', '--yes', '--units', '5'])
      expect([exitCode, stderr]).toEqual([3, expect.stringContaining(why)])
    })
    expect(paid).toBe(0n)
  })

  it('names the problem with an unknown asset, a wallet of the wrong chain or a missing wallet', async () => {
    expect(await home.svc(['buy', '--asset', 'GOLD'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/does not accept GOLD\nhint: {2}it accepts SOL, USDC/),
    })
    const env = { XDG_CONFIG_HOME: join(home.folder, 'empty') }
    const evmOnly = await home.svc(['buy', '--asset', 'SOL'], { env })
    expect(evmOnly).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('SOL needs a Solana keypair, and 0x'),
    })
    const solanaOnly = await home.svc(['buy', '--asset', 'MON'], { env: { SVC_EVM_KEY: '' } })
    expect(solanaOnly).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('MON needs an EVM key, and ') })
    const none = await home.svc(['buy'], { env: { ...env, SVC_EVM_KEY: '' } })
    expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('paying needs a wallet') })
  })
})
