// Purchases on both chains, with and without a terminal.

import { rename, rm, writeFile } from 'node:fs/promises'
import type { Price, Quote } from '@svc/api/purchases'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { fileJournal } from '@svc/sdk/node'
import { type Market, useMarket } from '@svc/sdk/test/market'
import { describe, expect, it } from 'vitest'
import { exits, includes, jsonDocument, jsonLines } from '../host.ts'
import { useBuyerHome } from '../locker.ts'

interface Bought {
  receipt_id: string
  receipt: SignedReceipt
}

const market = useMarket()
const home = useBuyerHome(market, () => ({ SVC_EVM_KEY: DEV_PAYERS[0]!.privateKey }))

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
    expect(stdout).toMatch(/^ *0\.75 {2}USDC +Solana, local chain \(worthless coins\) /m)
    expect(stdout).toMatch(/^ *0\.75 {2}USDC +Monad, local chain \(worthless coins\) /m)
    expect(jsonDocument<Quote>((await home.svc(['quote', '--json', '--asset', 'usdt'])).stdout).accepts).toHaveLength(1)
  })

  it('PAY-01 counts a folder as put would upload it, and shows how many units it needs', async () => {
    const files = { '0.txt': 'abc', '1.txt': 'abc', '2.txt': 'abc', 'big.tmp': 'left out' }
    const folder = await home.write('to-keep', files)
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
    expect(await home.svc(['quote', home.path('nowhere')])).toMatchObject({ exitCode: 2 })
  })
})

describe('svc buy', () => {
  it('PAY-51 pays no more than --max, even with --yes', { tags: ['nightly'] }, async () => {
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

  it('T-67 ADD-16 rejects a name or tags that the gateway would refuse, before any request', async () => {
    const tags = Array.from({ length: 32 }, (_, i) => `tag-${i}`).join(',')
    for (const [args, why] of [
      [['buy', '--name=a/b'], '1 to 59 letters'],
      [['buy', '--qr', '--name='], '1 to 59 letters'],
      [['provision', `rcpt_${'0'.repeat(32)}`, '--name', 'a/b'], '1 to 59 letters'],
      [['buy', '--name', 'many', '--tag', tags], 'tag'],
      [['buy', '--qr', '--name', 'many', '--tag', 't'.repeat(65)], 'tag'],
    ] as const)
      expect(await home.svc([...args, '--yes']), args.join(' ')).toMatchObject(exits(2, why))
    expect(market.proxy.seen).toEqual([])
  })

  it('PAY-52 resumes a purchase under a name that is no longer allowed', async () => {
    const { signer, wallet } = market.solana()
    const journal = fileJournal(home.path('config', 'svc', 'journal'))
    const client = market.client({ signer, journal, baseUrl: market.proxy.url })
    const order = { units: 1, asset: 'USDC', intent: 'old/name', wallet }
    const paid = await received('USDC', async () => {
      const body = { error: 'receipt_not_found', message: 'not yet', request_id: 'r' }
      market.proxy.always(/signed_provision/, { answer: { status: 404, body } })
      await expect(client.buy(order)).rejects.toMatchObject({ money: 'moved' })
      market.proxy.behave()
      const resumed = await home.svc(['buy', '--asset', 'USDC', '--yes', '--name', 'old/name'])
      expect(resumed).toMatchObject(exits(0, 'already paid'))
    })
    expect(paid).toBe(250_000n)
  })

  it('PAY-51 shows the price and asks; "no" pays nothing, "yes" buys', { tags: ['nightly'] }, async () => {
    const buy = (answer: string) => home.svc(['buy', '--asset', 'USDC'], { stdin: answer, isTerminal: true })
    expect(
      await received('USDC', async () => {
        const { exitCode, stderr } = await buy('n\n')
        expect(exitCode).toBe(1)
        expect(stderr).toMatch(
          /pay +0\.25 USDC\nto +\w+\non +Solana, local chain \(worthless coins\)\nfrom +\w+ \(.*id\.json\)/,
        )
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

  it('T-46 shows the highest possible network fee before it asks', async () => {
    const fee = async (asset: string) => {
      const { stderr } = await home.svc(['buy', '--asset', asset], { stdin: 'n\n', isTerminal: true })
      return /^fee +at most ([\d.]+ \w+) to the network/m.exec(stderr)?.[1]
    }
    expect(await fee('MON')).toMatch(/^0\.0*[1-9]\d* MON$/)
    expect(await fee('SOL')).toBe('0.000005 SOL')
  })

  it('T-46 rejects an unusual network fee with --yes', async () => {
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

  it('PAY-52 pays once for a name, however often the command is repeated', { tags: ['nightly'] }, async () => {
    const paid = await received('SOL', async () => {
      const args = ['buy', '--asset', 'SOL', '--name', 'photos', '--yes']
      const first = await home.json<Bought>(...args)
      const again = await home.svc(args)
      expect(again).toMatchObject({ ...exits(0, 'no new payment was made'), stdout: includes(first.receipt_id) })
      const other = await home.svc([...args, '--units', '2'])
      expect(other).toMatchObject(exits(1, new RegExp(`"photos" is finished.*${first.receipt_id}.*Nothing was paid`)))
    })
    const { receipt } = await home.json<Bought>('buy', '--asset', 'SOL', '--name', 'photos')
    expect(paid).toBe(BigInt(receipt.paid_raw))
  })

  it('PAY-51 pays with the key of the chain that has the asset, and opens the locker for that key', async () => {
    const order = ['--asset', 'MON', '--yes', '--name', 'on-evm', '--tag', 'a,b']
    const { receipt, receipt_id } = await home.json<Bought>('buy', ...order)
    expect(receipt).toMatchObject({ payer_pubkey: DEV_PAYERS[0]!.address.toLowerCase(), network: 'evm-mainnet' })
    expect(await home.svc(['ls', '-l', 'on-evm'])).toMatchObject({ exitCode: 0 })
    const wallet = ['--wallet', home.path('evm-key')]
    await writeFile(home.path('evm-key'), DEV_PAYERS[0]!.privateKey, { mode: 0o600 })
    const [manifest] = jsonLines((await home.svc(['provision', receipt_id, ...wallet, '--json'])).stdout)
    expect(manifest).toMatchObject({ already_provisioned: true, tags: ['a', 'b', 'name:on-evm'] })
    expect(await home.svc(['receipt', receipt_id, '--payment'])).toMatchObject(
      exits(0, 'The chain matches the receipt'),
    )
  })

  it('PAY-52 resumes an unfinished purchase when the same order is repeated', { tags: ['nightly'] }, async () => {
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
      expect(again).toMatchObject(exits(0, /Resuming.*no new payment was made/s))
    })
    expect(paid).toBe(250_000n)
  })

  it('PAY-52 reports a paid locker that it cannot save locally, and does not pay for it again', {
    tags: ['nightly'],
  }, async () => {
    const buy = () => home.svc(['buy', '--asset', 'USDC', '--yes'])
    const lockers = home.path('config', 'svc', 'lockers')
    const paid = await received('USDC', async () => {
      await rename(lockers, `${lockers}-away`)
      await writeFile(lockers, 'in the way')
      expect(await buy()).toMatchObject(exits(4, /paid, but not finished.*run the same command again/s))
      await rm(lockers)
      await rename(`${lockers}-away`, lockers)
      expect(await buy()).toMatchObject(exits(0, 'no new payment was made'))
    })
    expect(paid).toBe(250_000n)
  })

  it('PAY-51 pays nothing when the journal cannot be written, and reports it', async () => {
    const config = await home.write('unwritable', { 'svc/journal': 'in the way' })
    const wallet = ['--wallet', home.path('id.json')]
    const { exitCode, stderr } = await home.svc(['buy', '--asset', 'USDC', '--yes', ...wallet], {
      env: { XDG_CONFIG_HOME: config },
    })
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/cannot be recorded: .*\. Nothing was paid/)])
  })

  it('names the problem with an unknown asset, a wallet of the wrong chain or a missing wallet', async () => {
    expect(await home.svc(['buy', '--asset', 'GOLD'])).toMatchObject(
      exits(2, /does not accept GOLD\nhint: {2}it accepts SOL, USDC/),
    )
    const env = { XDG_CONFIG_HOME: home.path('empty') }
    const evmOnly = await home.svc(['buy', '--asset', 'SOL'], { env })
    expect(evmOnly).toMatchObject(exits(2, 'SOL needs a Solana keypair, which 0x'))
    const solanaOnly = await home.svc(['buy', '--asset', 'MON'], { env: { SVC_EVM_KEY: '' } })
    expect(solanaOnly).toMatchObject(exits(2, 'MON needs an EVM key, which '))
    const none = await home.svc(['buy'], { env: { ...env, SVC_EVM_KEY: '' } })
    expect(none).toMatchObject(exits(2, 'a payment needs a wallet'))
  })
})
