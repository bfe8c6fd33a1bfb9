// Usage and renewal of lockers.

import { writable } from '@svc/devnet/writable'
import type { LockerUsage } from '@svc/sdk'
import { useMarket } from '@svc/sdk/test/market'
import { beforeAll, describe, expect, it } from 'vitest'
import { untilText, usageWarnings } from '../../src/purchases/usage-text.ts'
import { exits, includes, jsonLines } from '../host.ts'
import { useBuyerHome } from '../locker.ts'

const market = useMarket()
const home = useBuyerHome(market)
beforeAll(async () => {
  for (const name of ['photos', 'music']) await buy(name)
  await home.ok('put', await home.write('in', { 'a.txt': 'x'.repeat(2048) }), '-l', 'photos')
})

const buy = (name: string) => home.ok('buy', '--asset', 'USDC', '--name', name, '--yes')

interface Status extends LockerUsage {
  name: string
  warnings: string[]
}

const statusOf = (locker: string) => home.json<Status>('status', locker)

async function change(locker: string, values: { expires_at?: string; terms?: string }): Promise<void> {
  const { locker_id } = await statusOf(locker)
  const { db } = market.gateway.context.database
  await writable(db).updateTable('lockers').set(values).where('locker_id', '=', locker_id).execute()
}

const inDays = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 19)}Z`

describe('svc status', () => {
  it('LOCK-14 T-56 shows the end, the usage of each limit, the price paid and the next anchor', async () => {
    const { stdout, stderr } = await home.ok('status', 'photos')
    expect(stdout).toMatch(/^locker +locker_\w+ \(photos\)$/m)
    expect(stdout).toMatch(/^until +20\d\d-\d\d-\d\d \d\d:\d\d UTC, 365 days left$/m)
    expect(stdout).toMatch(/^paid on +local chain \(worthless coins\)$/m)
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
        /^photos +20\S+ \d\d:\d\d UTC +2\.00 KiB of 1\.00 GiB \(0 %\) +1 of 1,000 \(0 %\) .* 0\.25 USD +-$/m,
      )
      expect(stdout).toMatch(/^music /m)
      const names = jsonLines<Status>((await home.ok(...args, '--json')).stdout).map(({ name }) => name)
      expect(names.slice(0, 2)).toEqual(['photos', 'music'])
    }
  })

  it('T-56 warns from 30 days before the end, with the next step', async () => {
    await change('music', { expires_at: inDays(29.5) })
    const { stderr } = await home.svc(['status', 'music'])
    expect(stderr).toMatch(/warning: music expires in 29 days: `svc renew music` extends it/)
    await change('music', { expires_at: inDays(-2) })
    expect((await home.svc(['status', 'music'])).stderr).toMatch(/music has expired: `svc renew music`/)
    expect((await home.svc(['status', 'music'])).stdout).toMatch(/until .*, expired 2 days ago/)
    const { warnings } = await statusOf('music')
    expect(warnings).toEqual([includes('has expired')])
  })

  it('T-56 warns from 80 % of each limit', async () => {
    const used = { bytes: { used: 80, bought: 100 }, files: { used: 790, bought: 1000 } }
    const locker = { name: 'photos', receipt_id: '', locker_id: '', owner: null }
    expect(usageWarnings(locker, { ...(await statusOf('photos')), ...used }, Date.now())).toEqual([
      includes('photos has used 80 % of its storage'),
    ])
  })

  it.each([
    ['2027-11-17T23:59:10Z', '365 days left'],
    ['2027-11-17T10:00:00Z', '364 days left'],
    ['2026-11-19T12:00:00Z', '2 days left'],
    ['2026-11-18T23:59:59Z', '23 hours left'],
    ['2026-11-16T00:00:00Z', 'expired 2 days ago'],
  ])('T-56 shows the time until %s as %s', (expires_at, text) => {
    expect(untilText({ expires_at }, Date.parse('2026-11-18T00:00:00Z'))).toContain(text)
  })
})

describe('svc renew', () => {
  const YEAR_MS = 365 * 86_400_000

  it('ADD-17 PAY-51 shows the terms after the renewal and asks; "no" pays nothing, "yes" extends it', {
    tags: ['nightly'],
  }, async () => {
    await buy('renewed')
    const before = await statusOf('renewed')
    const treasury = await market.treasury('USDC')
    const ask = (stdin: string) => home.svc(['renew', 'renewed', '--asset', 'USDC'], { stdin, isTerminal: true })
    const offer = /renewal +1 × renewed: 1\.00 GiB, 1,000 files, until 20\d\d-\d\d-\d\d \d\d:\d\d UTC \(0\.25 USD\)/
    const no = await ask('n\n')
    expect(no.stderr).toMatch(offer)
    expect(no.stderr).toContain('Nothing was paid')
    expect(await market.treasury('USDC')).toBe(treasury)
    const yes = await ask('y\n')
    expect([yes.exitCode, yes.stdout]).toEqual([0, includes(/paid +0\.25 USDC .*\n(.*\n)*until +20/)])
    expect((await market.treasury('USDC')) - treasury).toBe(250_000n)
    const after = await statusOf('renewed')
    expect(Date.parse(after.expires_at) - Date.parse(before.expires_at)).toBe(YEAR_MS)
    expect((await home.ok('status', 'renewed')).stdout).toMatch(/^renewed +0\.25 USDC/m)
    const none = await home.svc(['renew', after.purchases.at(-1)!.receipt_id, '--units', '1', '--yes'])
    expect(none).toMatchObject(exits(1, 'this receipt renews locker_'))
  })

  it('ADD-17 PAY-52 a renewal that is cut short resumes when the same command is repeated, and is paid once', {
    tags: ['nightly'],
  }, async () => {
    await buy('cut')
    const treasury = await market.treasury('USDC')
    const before = await statusOf('cut')
    const body = { error: 'pay_req_not_found', message: 'gone', request_id: 'r' }
    // The first confirmation only checks for an earlier payment.
    market.proxy.plan(/storage\/confirm/, { lie: (answer) => answer }, { answer: { status: 404, body } })
    const renew = () => home.svc(['renew', 'cut', '--asset', 'USDC', '--yes'])
    expect((await renew()).exitCode).toBe(4)
    expect(await renew()).toMatchObject(exits(0, 'no new payment was made'))
    expect((await market.treasury('USDC')) - treasury).toBe(250_000n)
    const after = await statusOf('cut')
    expect(Date.parse(after.expires_at) - Date.parse(before.expires_at)).toBe(YEAR_MS)
  })

  it('PAY-51 pays no more than --max', async () => {
    const dear = await home.svc(['renew', 'photos', '--units', '3', '--asset', 'USDC', '--max', '0.5', '--yes'])
    expect(dear).toMatchObject(exits(1, 'more than --max 0.5. Nothing was paid'))
  })
})
