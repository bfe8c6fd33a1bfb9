import type { Quote, Renewal } from '@svc/api/purchases'
import type { LockerUsage } from '@svc/api/usage'
import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { buy, expectError, payReqId } from '@svc/devnet/services/market'
import { ed25519Identity, type TestLocker } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { isoSeconds } from '@svc/protocol/evidence'
import { lockerId } from '@svc/protocol/ids'
import { describe, expect, it } from 'vitest'
import { purchasesOf } from '../../src/lockers/store.ts'
import { OWNER, openSponsoredMarket } from './protocols/sponsored/sponsored-market.ts'

const sponsored = forAllTests(() => openSponsoredMarket())

const usageOf = async (locker: TestLocker) => (await locker.call<LockerUsage>(['locker:read'], 'GET', '/usage')).body

const renewalIn = (quote: Quote) => quote.extensions.svc.renewal as Renewal

// Two gateways share one database: a renewal counts once at either of them.
describe.each(['sqlite', 'postgres'] as const)('a purchase that extends a locker (%s)', (dialect) => {
  const database = forAllTests(() => createFreshDatabase(dialect))
  const shop = forAllTests(() => sponsored.open({ DATABASE_URL: database.url }))
  const shops = [shop, forAllTests(() => sponsored.market.open({ DATABASE_URL: database.url }))] as const

  const countOf = async (table: 'receipts' | 'renewals' | 'lockers') =>
    (await shop.gateway.context.database.db.selectFrom(table).selectAll().execute()).length

  it('ADD-17 PAY-30 extends it from its end, and keeps its receipt, links and statements', async () => {
    const locker = await shop.locker(ed25519Identity())
    await locker.put('a.txt', 'kept')
    const before = await usageOf(locker)
    const quote = await shop.quote({ units: 1, extends: locker.receiptId })
    const until = new Date(Date.parse(before.expires_at) + 365 * 86_400_000).toISOString().replace('.000', '')
    expect(renewalIn(quote)).toEqual({
      receipt_id: locker.receiptId,
      locker_id: locker.lockerId,
      storage_limit_bytes: before.bytes.bought,
      file_limit: 1000,
      egress_included_bytes: 2 * before.egress.bought,
      expires_at: until,
    })
    const tx = await sponsored.market.pay(quote.accepts[0]!)
    const { status, body } = await shop.confirm({ pay_req_id: payReqId(quote) }, tx)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.receipt).toMatchObject({ extends: locker.receiptId, units: 1, tx_hash: tx })
    expect(body.receipt).not.toHaveProperty('proof_id')
    const usage = await usageOf(locker)
    expect(usage).toMatchObject({ expires_at: until, bytes: before.bytes, files: before.files, renewal_units: 1 })
    expect(usage.egress.bought).toBe(2 * before.egress.bought)
    expect(usage.purchases).toMatchObject([
      { receipt_id: locker.receiptId, kind: 'purchase' },
      { receipt_id: body.receipt_id, kind: 'renewal', units: 1, price_usd: 0.25, pay_asset: body.receipt.pay_asset },
    ])
    const link = await fetch(`${shop.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`)
    expect(await link.text()).toBe('kept')
    const { db } = shop.gateway.context.database
    const paid = await purchasesOf(db, body.receipt.payer_pubkey, { confirmedAt: '~', receiptId: '' }, 100)
    expect(paid.map(({ receipt_id }) => receipt_id)).not.toContain(body.receipt_id)
    expect((await locker.call<{ receipt_id: string }>(['locker:read'], 'GET', '/record')).body).toMatchObject({
      receipt_id: locker.receiptId,
      expires_at: until,
    })
  })

  it('ADD-17 T-57 extends it once, even when confirmed many times at two gateways', async () => {
    const locker = await shop.locker(ed25519Identity())
    const before = await usageOf(locker)
    const quote = await shop.quote({ units: 1, extends: locker.receiptId })
    const tx = await sponsored.market.pay(quote.accepts[0]!)
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) => shops[i % 2]!.confirm({ pay_req_id: payReqId(quote) }, tx)),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(replies.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    const after = await usageOf(locker)
    expect(Date.parse(after.expires_at) - Date.parse(before.expires_at)).toBe(365 * 86_400_000)
    expect(after.purchases).toHaveLength(2)
  })

  const endAt = (locker: TestLocker, seconds: number) =>
    writable(shop.gateway.context.database.db)
      .updateTable('lockers')
      .set({ expires_at: isoSeconds(Math.floor(sponsored.market.clock.now() / 1000) + seconds) })
      .where('locker_id', '=', locker.lockerId)
      .execute()

  it('ADD-17 T-57 counts both of two concurrent renewals', async () => {
    const locker = await shop.locker(ed25519Identity())
    const before = await usageOf(locker)
    const quotes = await Promise.all([0, 1].map(() => shop.quote({ units: 1, extends: locker.receiptId })))
    const txs: string[] = []
    for (const quote of quotes) txs.push(await sponsored.market.pay(quote.accepts[0]!))
    const replies = await Promise.all(
      quotes.map((quote, i) => shops[i]!.confirm({ pay_req_id: payReqId(quote) }, txs[i]!)),
    )
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    const after = await usageOf(locker)
    expect(Date.parse(after.expires_at) - Date.parse(before.expires_at)).toBe(2 * 365 * 86_400_000)
  })

  it('ADD-17 AMB-06 counts from its payment, even when confirmed after the end of the locker', async () => {
    const locker = await shop.locker(ed25519Identity())
    await buy(sponsored.market, shop, { units: 4, extends: locker.receiptId })
    await endAt(locker, 600)
    const quote = await shop.quote({ units: 1, extends: locker.receiptId })
    const tx = await sponsored.market.pay(quote.accepts[0]!)
    sponsored.market.clock.advance(3600)
    expect((await shop.confirm({ pay_req_id: payReqId(quote) }, tx)).status).toBe(200)
    const { bytes, files, expires_at } = await usageOf(locker)
    const { storage_limit_bytes, file_limit, expires_at: quoted } = renewalIn(quote)
    expect([bytes.bought, files.bought, file_limit]).toEqual([storage_limit_bytes, file_limit, 4000])
    expect(Math.abs(Date.parse(expires_at) - Date.parse(quoted))).toBeLessThanOrEqual(1000)
  })

  it('ADD-17 T-57 does not reduce the next renewal when a small one is bought after the end', async () => {
    const { db } = shop.gateway.context.database
    const locker = await shop.locker(ed25519Identity())
    await endAt(locker, -600)
    await buy(sponsored.market, shop, { units: 1, extends: locker.receiptId })
    expect((await usageOf(locker)).renewal_units).toBe(1)
    const used = { total_bytes: 2.5 * 1_073_741_824 }
    await writable(db).updateTable('lockers').set(used).where('locker_id', '=', locker.lockerId).execute()
    expect((await usageOf(locker)).renewal_units).toBe(3)
    const opening = writable(db)
      .updateTable('pay_requests')
      .where((eb) =>
        eb(
          'pay_req_id',
          '=',
          eb.selectFrom('receipts').select('pay_req_id').where('receipt_id', '=', locker.receiptId),
        ),
      )
    const terms = { storage_limit_bytes: 5 * 1_073_741_824, file_limit: 5000 }
    await opening.set({ quote: JSON.stringify({ extensions: { svc: { terms } } }) }).execute()
    expect((await usageOf(locker)).renewal_units).toBe(5)
    await opening.set({ quote: '{}' }).execute()
    expect((await usageOf(locker)).renewal_units).toBe(3)
  })

  it('ADD-17 T-57 opens no locker of its own for its payer or a sponsor', async () => {
    const locker = await shop.locker(ed25519Identity())
    const { receipt_id } = await buy(sponsored.market, shop, { units: 1, extends: locker.receiptId })
    const open = await sponsored.market.open({ DATABASE_URL: database.url, ALLOW_PUBLIC_PROVISION: 'true' })
    const before = await countOf('lockers')
    const provisioned = await open.send<{ details: object }>('POST', '/v1/storage/provision', { receipt_id })
    expectError(provisioned, 409, 'receipt_is_renewal')
    expect(provisioned.body.details).toEqual({ locker_id: locker.lockerId, receipt_id: locker.receiptId })
    await open.close()
    // No other endpoint offers a locker for its receipt.
    const path = `/v1/lockers/${lockerId(receipt_id)}/files`
    const signed = { method: 'GET', path, ops: ['locker:list'], lockerId: lockerId(receipt_id), receiptId: receipt_id }
    expectError(await shop.call(locker.owner, signed), 409, 'receipt_is_renewal')
    const link = await shop.send<{ details: object }>('GET', `/v1/r/${receipt_id}/f/a.txt`)
    expectError(link, 409, 'receipt_is_renewal')
    expect(link.body.details).toEqual(provisioned.body.details)
    const named = new URLSearchParams({ receipt_id, filename: 'a.txt' })
    expectError(await shop.send('POST', `/v1/files/confirm?${named}`), 409, 'receipt_is_renewal')
    const attested = await shop.send('POST', '/v1/internal/attest', { receipt_id })
    expectError(attested, 409, 'receipt_is_renewal')
    const quote = await shop.quote({ units: 1, extends: locker.receiptId })
    const tx_sig = await sponsored.market.pay(quote.accepts[0]!)
    const body = { pay_req_id: payReqId(quote), tx_sig, owner_identity: OWNER }
    expectError(await shop.sponsor(body), 409, 'receipt_is_renewal')
    expect(await countOf('lockers')).toBe(before)
    // The sponsor's payment is not lost.
    expect((await shop.confirm({ pay_req_id: payReqId(quote) }, tx_sig)).status).toBe(200)
  })

  it('ADD-17 T-57 is not quoted without a locker or at another provider, and stores nothing then', async () => {
    const owner = ed25519Identity()
    const locker = await shop.locker(owner)
    const unopened = await shop.receipt(owner)
    const { receipt_id: renewal } = await buy(sponsored.market, shop, { units: 1, extends: locker.receiptId })
    const ask = (order: object) => shop.send('POST', '/v1/storage/request', { units: 1, ...order })
    const { db } = shop.gateway.context.database
    const stored = async () => (await db.selectFrom('pay_requests').selectAll().execute()).length
    const before = await stored()
    expectError(await ask({ extends: `rcpt_${'0'.repeat(32)}` }), 404, 'receipt_not_found')
    expectError(await ask({ extends: unopened }), 404, 'locker_not_found')
    expectError(await ask({ extends: renewal }), 409, 'receipt_is_renewal')
    expectError(await ask({ extends: locker.receiptId, provider: 'mongodb' }), 422, 'validation_error')
    expectError(await ask({ extends: locker.lockerId }), 422, 'validation_error')
    expect(await stored()).toBe(before)
  })

  it.each([
    ['frozen', 423, 'LOCKER_FROZEN'],
    ['taken_down', 451, 'LOCKER_TAKEN_DOWN'],
  ] as const)(
    'T-165 a locker that is %s cannot be renewed, but an earlier payment counts',
    async (state, status, code) => {
      const locker = await shop.locker(ed25519Identity())
      const order = { units: 1, extends: locker.receiptId }
      const headers = { 'idempotency-key': `restricted-${state}-${dialect}` }
      const [earlier, paid] = [await shop.quote(order, headers), await shop.quote(order)]
      const tx = await sponsored.market.pay(paid.accepts[0]!)
      const restriction = { restriction: state, restricted_at: '2026-09-01T12:00:00Z' }
      const { db } = shop.gateway.context.database
      await writable(db).updateTable('lockers').set(restriction).where('locker_id', '=', locker.lockerId).execute()
      expectError(await shop.send('POST', '/v1/storage/request', order), status, code)
      expectError(await shop.send('POST', '/v1/storage/request', order, headers), status, code)
      const leg = earlier.accepts[0]!
      const facts = { pay_req_id: payReqId(earlier), network: leg.network, asset: leg.asset }
      expectError(await shop.send('POST', '/v1/storage/payment/prepare', facts), status, code)
      const before = Date.parse((await usageOf(locker)).expires_at)
      expect((await shop.confirm({ pay_req_id: payReqId(paid) }, tx)).status).toBe(200)
      expect(Date.parse((await usageOf(locker)).expires_at)).toBe(before + 365 * 86_400_000)
      const found = await shop.send('POST', '/v1/storage/payment/find', { pay_req_id: payReqId(paid) })
      expect(found.status).toBe(200)
    },
  )

  it('T-57 a quote reveals nothing about the contents of the locker', async () => {
    const locker = await shop.locker(ed25519Identity())
    await locker.put('secret-name.txt', 'x'.repeat(123_457))
    const text = JSON.stringify(await shop.quote({ units: 1, extends: locker.receiptId }))
    for (const secret of ['secret-name', '123457', locker.owner.identity]) expect(text).not.toContain(secret)
  })
})

it('T-56 ADD-17 a quote states that terms are enforced, and a renewal accepts an upload refused before', async () => {
  const TERMS = '{"gcs":{"storage_limit_bytes":100,"ttl_days":10}}'
  const shop = await sponsored.market.open({ ENFORCE_TERMS: 'true', TERMS })
  const locker = await shop.locker(ed25519Identity())
  await locker.put('a', 'x'.repeat(60))
  const put = async () => {
    const { body } = await locker.call<{ upload_url: string }>(['locker:write'], 'POST', '/files', { filename: 'b' })
    const headers = { 'content-type': 'application/octet-stream' }
    const url = shop.gateway.url + new URL(body.upload_url).pathname
    return (await fetch(url, { method: 'PUT', headers, body: 'x'.repeat(60) })).status
  }
  expect(await put()).toBe(507)
  const quote = await shop.quote({ units: 2, extends: locker.receiptId })
  expect(quote.extensions.svc.terms).toMatchObject({ storage_limit_bytes: 200, enforced: true })
  await buy(sponsored.market, shop, { units: 2, extends: locker.receiptId })
  expect(await put()).toBe(200)
  expect((await usageOf(locker)).enforced).toBe(true)
})
