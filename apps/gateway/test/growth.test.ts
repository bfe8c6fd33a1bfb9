import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { openMarket } from '@svc/devnet/services/market'
import { bytesOf, ed25519Identity, signCall } from '@svc/devnet/services/signing'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { countRows, tableNames } from '@svc/devnet/table-names'
import { writable } from '@svc/devnet/writable'
import { withoutTransferRequests } from '@svc/payments/selling/quote'
import type { Kysely } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import type { Db } from '../src/db/schema.ts'
import { findPayRequest } from '../src/purchases/store.ts'
import { sweepQuotes } from '../src/purchases/sweep.ts'

const GATEWAY_DOCUMENT = new URL('../../../docs/gateway.md', import.meta.url)

/** The names in the first column of the table in the section of that service. */
function listedTables(service: string): string[] {
  const [, section = ''] = readFileSync(GATEWAY_DOCUMENT, 'utf8').split(`### Tables of the ${service}\n`)
  const [table = ''] = section.split('\n#')
  return table
    .split('\n')
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name!))
}

/** Counts rows, except samples of the growth, of which there is one an hour in any case. */
async function countOwnRows(db: Db): Promise<Record<string, number>> {
  const { growth_samples, ...counts } = await countRows(db as Kysely<unknown>)
  return counts
}

const DAY = 86_400
/** A day in steps of three hours. */
const STEPS = 8
const ADDRESSES_PER_STEP = 5

const market = forAllTests(() => openMarket())

forEachDatabase('the tables of the gateway', (database) => {
  let shop: TestGateway
  let db: Db
  beforeAll(async () => {
    shop = await market.open({ DATABASE_URL: database.url, TRUSTED_PROXIES: '127.0.0.1,::1' })
    db = shop.gateway.context.database.db
  })

  it('T-140 are listed in docs/gateway.md, each with its bound or its sweep', async () => {
    const names = await tableNames(db as Kysely<unknown>)
    expect(listedTables('gateway').sort()).toEqual(names.sort())
  })

  /** Sends what a caller without a locker or money can send; each line once from each address. */
  async function sendUnauthenticated(address: string): Promise<void> {
    const headers = { 'x-forwarded-for': address }
    const keyed = { ...headers, 'idempotency-key': address }
    const tx = `0x${randomBytes(32).toString('hex')}`
    const receipt_id = `rcpt_${randomBytes(16).toString('hex')}`
    const { pay_req_id } = (await shop.quote({ units: 1 }, headers)).accepts[0]!.extra
    await shop.quote({ units: 2 }, keyed)
    const posts: [path: string, body: unknown, status: number, error: string][] = [
      ['/v1/storage/request', { units: 0 }, 422, 'validation_error'],
      ['/v1/x402/storage', { units: 1 }, 402, expect.stringContaining('Payment required')],
      ['/v1/storage/confirm', { pay_req_id, tx_sig: tx }, 402, 'payment_verification_failed'],
      ['/v1/storage/confirm', { pay_req_id: 'pr_unknown', tx_sig: tx }, 404, 'pay_req_not_found'],
      [`/v1/files/confirm?receipt_id=${receipt_id}&filename=a`, {}, 404, 'receipt_not_found'],
      [`/v1/upload-sessions/us_${'0'.repeat(32)}/finalize`, {}, 401, 'UPLOAD_TOKEN_INVALID'],
      ['/v1/storage/provision', { receipt_id }, 401, 'MISSING_ENVELOPE'],
    ]
    const answers = await Promise.all(posts.map(([path, body]) => shop.send('POST', path, body, headers)))
    expect(answers).toMatchObject(posts.map(([, , status, error]) => ({ status, body: { error } })))
    const gets = {
      '/health': 200,
      '/v1/price': 200,
      [`/v1/receipts/${receipt_id}`]: 404,
      [`/v1/retrieve?receipt_id=${receipt_id}`]: 404,
      '/f/AAAA': 403,
    }
    const got = await Promise.all(Object.keys(gets).map((path) => fetch(shop.gateway.url + path, { headers })))
    expect(got.map(({ status }) => status)).toEqual(Object.values(gets))
    const path = '/v1/lockers/locker_000000000000/files'
    const signed = signCall(
      ed25519Identity(),
      { method: 'POST', path, body: {}, ops: ['locker:write'] },
      market.clock.now(),
    )
    const unknown = await shop.send('POST', path, bytesOf({}), { ...headers, ...signed.headers })
    expect(unknown).toMatchObject({ status: 401, body: { error: 'LOCKER_ID_MISMATCH' } })
    const nobody = ed25519Identity()
    const list = `/v1/lockers?wallet=${nobody.identity}`
    const envelope = { aud: shop.gateway.url }
    const asked = signCall(nobody, { path: list, ops: ['locker:list'], envelope }, market.clock.now())
    const answer = await fetch(shop.gateway.url + list, { headers: { ...headers, ...asked.headers } })
    expect(answer.status).toBe(200)
  }

  it('T-140 return to their size after a day of unauthenticated requests and the sweeps', {
    tags: ['nightly'],
  }, async () => {
    const { queue } = shop.gateway.context
    // The sweep first removes what other tests left.
    market.clock.advance(31 * DAY)
    await queue.drain()
    const before = await countOwnRows(db)
    for (let step = 0; step < STEPS; step++) {
      for (let i = 0; i < ADDRESSES_PER_STEP; i++) await sendUnauthenticated(`198.51.${step}.${i}`)
      market.clock.advance(DAY / STEPS)
      // The clock of the database, which this test does not move, also decides when nonces are forgotten.
      await writable(db).updateTable('nonces').set({ forget_at: 0 }).execute()
      await queue.drain()
    }
    const after = await countOwnRows(db)
    const grown = Object.keys(after).filter((name) => after[name]! > before[name]!)
    // Only quotes and their templates outlive the day, and their keys outlive another one.
    expect(grown.sort()).toEqual(['idempotency_keys', 'pay_requests', 'quote_templates'])
    expect(after.pay_requests).toBe(before.pay_requests! + STEPS * ADDRESSES_PER_STEP * 3)
    market.clock.advance(DAY)
    await queue.drain()
    expect((await countOwnRows(db)).idempotency_keys).toBe(0)
    expect((await countOwnRows(db)).pay_requests).toBe(after.pay_requests)
    market.clock.advance(30 * DAY)
    await queue.drain()
    expect(await countOwnRows(db)).toEqual(before)
  })

  it('T-140 PAY-56 the sweep keeps paid quotes and those that may still be confirmed', async () => {
    const { queue } = shop.gateway.context
    const paid = await shop.quote({ units: 1 })
    const leg = paid.accepts[0]!
    const tx = await market.pay(leg)
    const first = await shop.confirm({ pay_req_id: leg.extra.pay_req_id }, tx)
    expect(first.status).toBe(200)
    const late = await shop.quote({ units: 1 })
    const lateTx = await market.pay(late.accepts[0]!)
    market.clock.advance(DAY)
    await queue.drain()
    const confirmed = await shop.confirm({ pay_req_id: late.accepts[0]!.extra.pay_req_id }, lateTx)
    expect([confirmed.status, confirmed.body.idempotent]).toEqual([200, false])
    market.clock.advance(400 * DAY)
    await queue.drain()
    const again = await shop.confirm({ pay_req_id: leg.extra.pay_req_id }, tx)
    expect(again.body).toEqual({ ...first.body, idempotent: true })
    expect((await findPayRequest(db, leg.extra.pay_req_id))?.quote).toBe(JSON.stringify(withoutTransferRequests(paid)))
    expect((await countOwnRows(db)).quote_templates).toBeGreaterThan(0)
  })

  it('T-140 the sweep keeps a limited number of quotes that can no longer be confirmed, the newest ones', async () => {
    const { context } = shop.gateway
    const ids: string[] = []
    for (let i = 0; i < 6; i++) {
      ids.push((await shop.quote({ units: 1 })).accepts[0]!.extra.pay_req_id)
      market.clock.advance(3600)
    }
    market.clock.advance(2 * DAY)
    const confirmable = (await shop.quote({ units: 1 })).accepts[0]!.extra.pay_req_id
    market.clock.advance(3600)
    await sweepQuotes(context, new AbortController().signal, 2)
    const found = await Promise.all([...ids, confirmable].map((id) => findPayRequest(db, id)))
    expect(found.map((quote) => quote !== null)).toEqual([false, false, false, false, true, true, true])
  })
})

it('T-140 AMB-06 a gateway that keeps unpaid quotes for a day never deletes one that may still be confirmed late', async () => {
  const shop = await market.open({ KEEP_DAYS: 'unpaid_quotes=1', LATE_CONFIRM_HOURS: '240' })
  const { queue } = shop.gateway.context
  const quote = await shop.quote({ units: 1 })
  const tx = await market.pay(quote.accepts[0]!)
  market.clock.advance(9 * DAY)
  await queue.drain()
  const { pay_req_id } = quote.accepts[0]!.extra
  expect((await shop.confirm({ pay_req_id }, tx)).status).toBe(200)
  const unpaid = (await shop.quote({ units: 1 })).accepts[0]!.extra.pay_req_id
  market.clock.advance(11 * DAY)
  await queue.drain()
  const gone = await shop.confirm({ pay_req_id: unpaid }, tx)
  expect([gone.status, (gone.body as { error?: string }).error]).toEqual([404, 'pay_req_not_found'])
})
