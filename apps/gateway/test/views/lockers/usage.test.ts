import { once } from 'node:events'
import { get } from 'node:http'
import type { LockerOverTerms } from '@svc/api/internal'
import type { Terms } from '@svc/api/purchases'
import type { LockerUsage } from '@svc/api/usage'
import { forEachDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  type Identity,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { openTestSession } from '../../adapters/http/sessions/sessions.ts'
import { scrape } from '../metrics/scrape.ts'

const READ = ['locker:read']
const WRITE = ['locker:write']

async function usageOf(locker: TestLocker, who?: Identity): Promise<LockerUsage> {
  const { status, body } = await locker.call<LockerUsage>(READ, 'GET', '/usage', undefined, who)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function setTerms({ gateway }: TestGateway, { lockerId }: TestLocker, changes: Partial<Terms>): Promise<void> {
  const { db } = gateway.context.database
  const { terms } = await db
    .selectFrom('lockers')
    .select('terms')
    .where('locker_id', '=', lockerId)
    .executeTakeFirstOrThrow()
  const changed = JSON.stringify({ ...JSON.parse(terms), ...changes })
  await writable(db).updateTable('lockers').set({ terms: changed }).where('locker_id', '=', lockerId).execute()
}

async function shortUrl(locker: TestLocker, filename: string): Promise<string> {
  const { body } = await locker.call<{ download_url: string }>(READ, 'GET', `/files/${filename}`)
  return new URL(body.download_url).pathname
}

forEachDatabase('the usage of a locker', (database) => {
  let instance: TestGateway
  beforeAll(async () => {
    instance = await openTestGateway({ DATABASE_URL: database.url })
  })
  afterAll(() => instance.close())

  it('LOCK-14 T-56 is shown with the bought terms to the owner and the operators', async () => {
    const operator = ed25519Identity()
    const locker = await instance.locker(ed25519Identity(), { operators: [operator] })
    const empty = await usageOf(locker)
    expect(empty).toEqual({
      locker_id: locker.lockerId,
      expires_at: '2027-09-01T12:00:00Z',
      ended: false,
      enforced: false,
      bytes: { used: 0, bought: 1_073_741_824 },
      files: { used: 0, bought: 1000 },
      egress: { used: 0, bought: 1_073_741_824 },
      purchases: [
        {
          receipt_id: locker.receiptId,
          kind: 'purchase',
          units: 1,
          price_usd: null,
          paid_amount: '1',
          pay_asset: 'USDC',
          network: 'primary-mainnet',
          confirmed_at: '2026-09-01T12:00:00Z',
        },
      ],
      next_anchor: null,
      has_unattested_changes: false,
      renewal_units: 1,
    })
    await locker.put('a.txt', 'twelve bytes')
    expect(await usageOf(locker, operator)).toMatchObject({
      bytes: { used: 12 },
      files: { used: 1 },
      has_unattested_changes: true,
    })
    expectRefusal(await locker.call(READ, 'GET', '/usage', undefined, ed25519Identity()), 403, 'SIGNATURE_INVALID')
  })

  it('T-56 counts stored bytes before they are confirmed, and after they are replaced or deleted', async () => {
    const locker = await instance.locker(ed25519Identity())
    const used = async () => (await usageOf(locker)).bytes.used
    await locker.put('a', 'x'.repeat(100), { confirm: false })
    expect(await used()).toBe(100)
    await locker.put('a', 'x'.repeat(30), { confirm: false })
    expect(await used()).toBe(30)
    await locker.put('a', 'x'.repeat(50))
    expect(await used()).toBe(50)
    await locker.put('a', 'x'.repeat(20), { confirm: false })
    expect(await used()).toBe(20)
    await locker.put('b', 'x'.repeat(7))
    const session = await openTestSession(instance, locker, { files: [{ filename: 'a' }, { filename: 'c' }] })
    for (const file of [0, 1]) await session.raw(0, 'abc', { file })
    expect((await session.finalize()).body).toMatchObject({ status: 'complete' })
    expect(await used()).toBe(13)
    const { body } = await locker.call<{ total_bytes: number }>(READ, 'GET', '/record')
    expect(body.total_bytes).toBe(13)
    await locker.put('d', 'x'.repeat(1000), { confirm: false })
    for (const name of ['a', 'b', 'c', 'd']) await locker.call(WRITE, 'DELETE', `/files/${name}`)
    expect(await usageOf(locker)).toMatchObject({ bytes: { used: 0 }, files: { used: 0 } })
  })

  it('T-56 counts files and ranges sent through public links and short URLs, but not HEAD answers or refusals', async () => {
    const locker = await instance.locker(ed25519Identity())
    await locker.put('a.txt', 'x'.repeat(1000))
    const sent = async () => (await usageOf(locker)).egress.used
    const link = `${instance.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`
    await (await fetch(link)).text()
    expect(await sent()).toBe(1000)
    await (await fetch(link, { headers: { range: 'bytes=0-99' } })).text()
    expect(await sent()).toBe(1100)
    const download = await shortUrl(locker, 'a.txt')
    await (await fetch(instance.gateway.url + download)).text()
    expect(await sent()).toBe(2100)
    await fetch(link, { method: 'HEAD' })
    const etag = (await fetch(link, { method: 'HEAD' })).headers.get('etag')!
    expect((await fetch(link, { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await fetch(link, { headers: { range: 'bytes=5000-' } })).status).toBe(416)
    expect(await sent()).toBe(2100)
  })

  it('T-56 adds up the bytes sent by several gateways, and keeps the sum when they stop', async () => {
    const locker = await instance.locker(ed25519Identity())
    await locker.put('a.txt', 'x'.repeat(10))
    const folder = instance.gateway.context.config.dataDir
    for (let i = 0; i < 2; i++) {
      const other = await openTestGateway({ DATABASE_URL: database.url, STORAGE_DIR: `${folder}/files` })
      await (await fetch(`${other.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`)).text()
      await other.close()
    }
    await (await fetch(`${instance.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`)).text()
    expect((await usageOf(locker)).egress.used).toBe(30)
  })
})

forEachDatabase('lockers over their terms', (database) => {
  it('T-56 the admin sees lockers over their terms, the furthest first, in pages and as a metric', async () => {
    const instance = await openTestGateway({ DATABASE_URL: database.url })
    onTestFinished(instance.close)
    const lockers = [await instance.locker(ed25519Identity()), await instance.locker(ed25519Identity())] as const
    for (const locker of lockers) await locker.put('a.txt', 'x'.repeat(100))
    await setTerms(instance, lockers[0], { storage_limit_bytes: 99 })
    await setTerms(instance, lockers[1], { storage_limit_bytes: 20, egress_included_bytes: 0 })
    const before = await instance.send<{ lockers: LockerOverTerms[] }>('GET', '/v1/internal/lockers/over-terms')
    expect(before.body.lockers.map(({ locker_id, used_percent }) => [locker_id, used_percent])).toEqual([
      [lockers[1].lockerId, 500],
      [lockers[0].lockerId, 102],
    ])
    expect(before.body.lockers[0]).toMatchObject({
      owner: lockers[1].owner.identity,
      bytes: { used: 100, bought: 20 },
      files: { used: 1, bought: 1000 },
      ended: false,
    })
    const paged: string[] = []
    let cursor = ''
    do {
      const path = `/v1/internal/lockers/over-terms?limit=1${cursor && `&cursor=${cursor}`}`
      const { body } = await instance.send<{ lockers: LockerOverTerms[]; next_cursor?: string }>('GET', path)
      paged.push(...body.lockers.map(({ locker_id }) => locker_id))
      cursor = body.next_cursor ?? ''
    } while (cursor !== '')
    expect(paged).toEqual([lockers[1].lockerId, lockers[0].lockerId])
    expectRefusal(await instance.send('GET', '/v1/internal/lockers/over-terms?cursor=x'), 422, 'validation_error')
    const { value } = await scrape(instance.gateway.url)
    expect(value('svc_lockers_over_terms', { term: 'bytes' })).toBe(2)
    expect(value('svc_lockers_over_terms', { term: 'time' })).toBe(0)
    instance.clock.advance(366 * 86_400)
    const ended = await instance.send<{ lockers: LockerOverTerms[] }>('GET', '/v1/internal/lockers/over-terms')
    expect(ended.body.lockers.map(({ ended }) => ended)).toEqual([true, true])
    expect((await usageOf(lockers[0])).ended).toBe(true)
  })
})

it('T-56 a locker reports unattested changes until they are attested automatically', async () => {
  const instance = await openTestGateway({
    CRON_ATTEST_ENABLED: 'true',
    CRON_ATTEST_PUSH: 'true',
    AUTO_REATTEST: 'true',
  })
  const locker = await instance.locker(ed25519Identity())
  await locker.put('a.txt', 'a')
  // This gateway publishes nothing, so no anchor is pending.
  expect(await usageOf(locker)).toMatchObject({ next_anchor: null, has_unattested_changes: true })
  await instance.gateway.context.queue.drain()
  instance.clock.advance(3)
  await instance.gateway.context.queue.drain()
  expect(await usageOf(locker)).toMatchObject({ has_unattested_changes: false })
  await instance.close()
})

it('T-56 an interrupted download counts only the bytes sent', { tags: ['nightly'] }, async () => {
  const instance = await openTestGateway()
  const locker = await instance.locker(ed25519Identity())
  const size = 64 * 1024 * 1024
  await locker.put('large', Buffer.alloc(size))
  const request = get(`${instance.gateway.url}/v1/r/${locker.receiptId}/f/large`)
  const [response] = await once(request, 'response')
  await once(response, 'data')
  request.destroy()
  await expect.poll(async () => (await usageOf(locker)).egress.used).toBeLessThan(size)
  expect((await usageOf(locker)).egress.used).toBeGreaterThan(0)
  await instance.close()
})
