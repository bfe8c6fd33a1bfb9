// What was bought and what is used of it, and paying for more.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { ed25519Signer } from '@svc/protocol/keys'
import type { LockerUsage } from '@svc/sdk'
import { type Market, openMarket } from '@svc/sdk/test/market'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { usageWarnings } from '../../src/purchases/usage-text.ts'
import { jsonDocument, jsonLines, openHome, type TestHome } from '../world.ts'

let market: Market
let home: TestHome
beforeAll(async () => {
  market = await openMarket()
  home = await openHome({ SVC_GATEWAY: market.proxy.url, SVC_PRIMARY_RPC: market.chains.primary.url })
  const seed = DEMO_PAYERS[0]!.privateKeyBytes
  const wallet = join(home.folder, 'id.json')
  await writeFile(wallet, JSON.stringify([...seed, ...ed25519Signer(seed).publicKey]), { mode: 0o600 })
  await home.svc(['config', 'set', 'wallet', wallet])
  await home.svc(['keys', 'pin', market.key])
  for (const name of ['photos', 'music'])
    expect((await home.svc(['buy', '--asset', 'USDC', '--name', name, '--yes'])).exitCode).toBe(0)
})
afterAll(async () => {
  await market.close()
  await home.leave()
})
afterEach(() => market.proxy.behave())

interface Status extends LockerUsage {
  name: string
  warnings: string[]
}

const statusOf = async (locker: string) => jsonDocument<Status>((await home.svc(['status', locker, '--json'])).stdout)

async function change(locker: string, values: { expires_at?: string; terms?: string }): Promise<void> {
  const { locker_id } = await statusOf(locker)
  const { db } = market.gateway.context.database
  await db.updateTable('lockers').set(values).where('locker_id', '=', locker_id).execute()
}

const inDays = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`

describe('svc status', () => {
  it('LOCK-14 T-56 shows until when, what is used of what, the price paid and the next anchor', async () => {
    const file = join(home.folder, 'a.txt')
    await writeFile(file, 'x'.repeat(2048))
    expect((await home.svc(['put', file, '-l', 'photos'])).exitCode).toBe(0)
    const { stdout, stderr, exitCode } = await home.svc(['status', 'photos'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^locker +locker_\w+ \(photos\)$/m)
    expect(stdout).toMatch(/^until +20\d\d-\d\d-\d\d \d\d:\d\d, 36[45] days left$/m)
    expect(stdout).toMatch(/^bytes +2\.00 KiB of 1\.00 GiB \(0 %\)$/m)
    expect(stdout).toMatch(/^files +1 of 1,000 \(0 %\)$/m)
    expect(stdout).toMatch(/^egress +about \d+(\.\d+)? \w+ of 1\.00 GiB$/m)
    expect(stdout).toMatch(/^bought +0\.25 USDC \(0\.25 USD\) on 20\d\d-\d\d-\d\d, receipt rcpt_\w+$/m)
    expect(stdout).toMatch(/^next anchor +none waiting: `svc attest`/m)
    expect(stderr).not.toContain('warning')
    expect(await statusOf('photos')).toMatchObject({ name: 'photos', bytes: { used: 2048 }, warnings: [] })
  })

  it('T-56 shows all lockers in a table, as `svc lockers --usage` does', async () => {
    for (const args of [['status'], ['lockers', '--usage']]) {
      const { stdout } = await home.svc(args)
      expect(stdout).toMatch(/^LOCKER +UNTIL +BYTES +FILES +EGRESS +PRICE +NEXT ANCHOR$/m)
      expect(stdout).toMatch(
        /^photos +20\S+ \d\d:\d\d +2\.00 KiB of 1\.00 GiB \(0 %\) +1 of 1,000 \(0 %\) .* 0\.25 USD +-$/m,
      )
      expect(stdout).toMatch(/^music /m)
      expect(jsonLines<Status>((await home.svc([...args, '--json'])).stdout).map(({ name }) => name)).toEqual([
        'photos',
        'music',
      ])
    }
  })

  it('T-56 warns from 80 % and from 30 days before the end, and says what to do', async () => {
    await change('music', { expires_at: inDays(29.5) })
    const { stderr } = await home.svc(['status', 'music'])
    expect(stderr).toMatch(/warning: music expires in 29 days: `svc renew music` extends it/)
    await change('music', { expires_at: inDays(-2) })
    expect((await home.svc(['status', 'music'])).stderr).toMatch(/music has expired: `svc renew music`/)
    expect((await home.svc(['status', 'music'])).stdout).toMatch(/until .*, expired 2 days ago/)
    const { warnings } = await statusOf('music')
    expect(warnings).toEqual([expect.stringContaining('has expired')])
    const usage = {
      ...(await statusOf('photos')),
      bytes: { used: 80, bought: 100 },
      files: { used: 790, bought: 1000 },
    }
    const locker = { name: 'photos', receipt_id: '', locker_id: '', owner: null }
    expect(usageWarnings(locker, usage, Date.now())).toEqual([
      expect.stringContaining('photos has used 80 % of its storage'),
    ])
  })
})

describe('svc renew', () => {
  it('ADD-17 PAY-51 shows what the locker will have and asks; "no" pays nothing, "yes" extends it', async () => {
    const before = await statusOf('photos')
    const treasury = await market.treasury('USDC')
    const ask = (answer: string) =>
      home.svc(['renew', 'photos', '--asset', 'USDC'], { stdin: answer, isTerminal: true })
    const no = await ask('n\n')
    expect(no.stderr).toMatch(
      /renewal +1 × photos: 1\.00 GiB, 1,000 files, until 20\d\d-\d\d-\d\d \d\d:\d\d \(0\.25 USD\)/,
    )
    expect(no.stderr).toContain('Nothing was paid')
    expect(await market.treasury('USDC')).toBe(treasury)
    const yes = await ask('y\n')
    expect([yes.exitCode, yes.stdout]).toEqual([0, expect.stringMatching(/paid +0\.25 USDC .*\n(.*\n)*until +20/)])
    expect((await market.treasury('USDC')) - treasury).toBe(250_000n)
    const after = await statusOf('photos')
    expect(Date.parse(after.expires_at) - Date.parse(before.expires_at)).toBe(365 * 86_400_000)
    expect((await home.svc(['status', 'photos'])).stdout).toMatch(/^renewed +0\.25 USDC/m)
  })

  it('ADD-17 PAY-52 a renewal that is cut short resumes when the same command is repeated, and is paid once', {
    tags: ['nightly'],
  }, async () => {
    const treasury = await market.treasury('USDC')
    const before = await statusOf('photos')
    // The first confirmation only checks for an earlier payment.
    market.proxy.plan(/storage\/confirm/, { lie: (answer) => answer }, { answer: GONE })
    const renew = () => home.svc(['renew', 'photos', '--asset', 'USDC', '--yes'])
    expect((await renew()).exitCode).toBe(4)
    expect(await renew()).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('nothing was paid now') })
    expect((await market.treasury('USDC')) - treasury).toBe(250_000n)
    const after = await statusOf('photos')
    expect(Date.parse(after.expires_at) - Date.parse(before.expires_at)).toBe(365 * 86_400_000)
  })

  it('PAY-51 pays no more than --max, and nothing for a receipt that is no locker', async () => {
    const treasury = await market.treasury('USDC')
    const dear = await home.svc(['renew', 'photos', '--units', '3', '--asset', 'USDC', '--max', '0.5', '--yes'])
    expect([dear.exitCode, dear.stderr]).toEqual([1, expect.stringContaining('more than --max 0.5. Nothing was paid')])
    const { purchases } = await statusOf('photos')
    const none = await home.svc(['renew', purchases.at(-1)!.receipt_id, '--units', '1', '--yes'])
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining('renewal of locker_')])
    expect(await market.treasury('USDC')).toBe(treasury)
  })
})

const GONE = { status: 404, body: { error: 'pay_req_not_found', message: 'gone', request_id: 'r' } }
