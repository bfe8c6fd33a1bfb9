import type { DialectName } from '@svc/database/dialects'
import { createFreshDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectError, legOf } from '@svc/devnet/services/market'
import type { Reply } from '@svc/devnet/services/test-gateway'
import { describe, expect, it } from 'vitest'
import { OWNER, openSponsoredMarket, quotes } from './sponsored-market.ts'

const sponsored = forAllTests(() => openSponsoredMarket())

const USED = [402, 'payment_verification_failed', 'transaction_already_used'] as const
const TOO_LITTLE = [402, 'payment_verification_failed', 'amount_too_small'] as const

const dialects: DialectName[] = ['sqlite', 'postgres']
describe.each(dialects)('claims on one transaction (%s)', (dialect) => {
  const database = forAllTests(() => createFreshDatabase(dialect))
  const open = () => sponsored.open({ DATABASE_URL: database.url, MAX_LOCKERS_PER_OWNER: '1000' })
  const shop = forAllTests(open)
  const replica = forAllTests(open)

  const single = (pay_req_id: string, tx_sig: string) => shop.sponsor({ pay_req_id, tx_sig, owner_identity: OWNER })
  const batch = (pay_req_ids: readonly string[], tx_sig: string, at = shop) =>
    at.sponsorBatch({ pay_req_ids, tx_sig, owner_identity: OWNER })
  const plain = (pay_req_id: string, tx: string) =>
    shop.confirm({ pay_req_id, pay_network: 'primary-mainnet', pay_asset: 'USDC' }, tx)
  const tries = <T>(count: number, attempt: (i: number) => Promise<T>) =>
    Promise.all(Array.from({ length: count }, (_, i) => attempt(i)))

  async function entryOf(tx: string) {
    const { db } = shop.gateway.context.database
    const rows = await db.selectFrom('payment_transactions').selectAll().where('tx', '=', tx).execute()
    expect(rows.length).toBeLessThan(2)
    return rows[0]
  }

  /** Quotes paid by one transaction that names none of them and pays `extra` more. */
  async function paidTogether(count: number, extra = 0n) {
    const { ids, sum } = await quotes(shop, count)
    return { ids, tx: await sponsored.market.pay(sum, { amount: BigInt(sum.amount) + extra, memo: null }) }
  }

  it.each(['plain', 'sponsored'])(
    'T-01 PAY-57 a %s single purchase claims the whole transaction, and no batch can use the rest',
    async (way) => {
      const { ids, tx } = await paidTogether(3)
      expect((await (way === 'plain' ? plain : single)(ids[0]!, tx)).status).toBe(200)
      expect(await entryOf(tx)).toMatchObject({ kind: 'single', asset: 'USDC', received: '750000', bound: '250000' })
      const before = await shop.written()
      expectError(await batch(ids.slice(1), tx), ...USED)
      expectError(await batch(ids, tx), ...USED)
      expectError(await single(ids[1]!, tx), ...USED)
      expect(await shop.written()).toEqual(before)
      expect((await batch(ids.slice(0, 1), tx)).body).toMatchObject({ ok: true })
    },
  )

  it('SPON-08 SPON-10 a larger batch adds to a smaller one until the payment is used up', async () => {
    const { ids, tx } = await paidTogether(3)
    const { ids: others } = await quotes(shop, 1)
    await batch(ids.slice(0, 1), tx)
    const { body } = await batch(ids, tx)
    expect(body.results.map(({ already_provisioned }) => already_provisioned)).toEqual([true, false, false])
    expect(await entryOf(tx)).toMatchObject({ bound: '750000' })
    const before = await shop.written()
    expectError(await batch([...ids, ...others], tx), ...TOO_LITTLE)
    expectError(await batch(others, tx), ...TOO_LITTLE)
    expect(await shop.written()).toEqual(before)
  })

  it('T-01 SPON-10 equal batches sent concurrently to two gateways write each position once', async () => {
    const { ids, tx } = await paidTogether(3)
    const replies = await tries(8, (i) => batch(i % 2 ? ids : ids.toReversed(), tx, i % 4 < 2 ? shop : replica))
    expect(replies.map(({ status, body }) => [status, body.ok])).toEqual(Array(8).fill([200, true]))
    const fresh = replies.flatMap(({ body }) => body.results).filter((result) => !result.already_provisioned)
    expect(fresh.map(({ pay_req_id }) => pay_req_id).sort()).toEqual(ids.toSorted())
    expect(await entryOf(tx)).toMatchObject({ received: '750000', bound: '750000' })
  })

  it.each([0, 1, 2])(
    'T-01 concurrent plain, sponsored and batch claims on one transaction never exceed its amount (order %i)',
    async (first) => {
      const { ids } = await quotes(shop, 6)
      const leg = legOf(await shop.quote(), 'USDC')
      const tx = await sponsored.market.pay(leg, { amount: 750_000n, memo: null })
      const ways: ((id: string, next: string) => Promise<Reply<unknown>>)[] = [
        (id) => plain(id, tx),
        (id) => single(id, tx),
        (id, next) => batch([id, next], tx),
      ]
      const replies = await tries(12, (i) => ways[(first + i) % 3]!(ids[i % 6]!, ids[(i + 1) % 6]!))
      for (const reply of replies) expect([200, 402], JSON.stringify(reply.body)).toContain(reply.status)
      const { receipts = [] } = await shop.written()
      const paid = receipts.filter((row) => (row as { tx: string }).tx === tx)
      const entry = await entryOf(tx)
      expect(paid.length).toBeLessThanOrEqual(entry?.kind === 'single' ? 1 : 3)
      expect(entry).toMatchObject({ received: '750000', bound: String(paid.length * 250_000) })
    },
  )

  it('LOCK-08 SPON-10 a batch beyond the locker limit reports positions without a locker and can be resumed', async () => {
    const { url, drop } = await createFreshDatabase(dialect)
    const small = await sponsored.open({ DATABASE_URL: url, MAX_LOCKERS_PER_OWNER: '2' })
    const { ids, sum } = await quotes(small, 3)
    const tx = await sponsored.market.pay(sum)
    const { status, body } = await batch(ids, tx, small)
    expect(status).toBe(200)
    expect(body).toMatchObject({ ok: false, total: 3, succeeded: 2, failed: 1 })
    const refused = {
      position: 2,
      ok: false,
      locker_id: null,
      already_provisioned: false,
      error: 'LOCKER_LIMIT_EXCEEDED',
    }
    expect(body.results[2]).toMatchObject({ ...refused, receipt_id: expect.stringMatching(/^rcpt_/) })
    expect((await batch(ids, tx, small)).body).toMatchObject({ ok: false, failed: 1 })
    await small.close()
    const larger = await sponsored.open({ DATABASE_URL: url, MAX_LOCKERS_PER_OWNER: '3' })
    const { body: resumed } = await batch(ids, tx, larger)
    expect(resumed).toMatchObject({ ok: true, succeeded: 3 })
    expect(resumed.results.map(({ already_provisioned }) => already_provisioned)).toEqual([true, true, false])
    await larger.close()
    await drop()
  })
})
