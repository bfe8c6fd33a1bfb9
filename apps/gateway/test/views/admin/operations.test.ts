import { address, createSolanaRpc } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type * as operations from '@svc/api/operations'
import type { Quote } from '@svc/api/purchases'
import { forEachDatabase, type TestDatabase } from '@svc/devnet/databases'
import { type OidcIssuer, startOidcIssuer, TEST_AUDIENCE } from '@svc/devnet/oidc-issuer'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { send, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { buy, legOf, type Market, openMarket, payReqId } from '@svc/devnet/services/market'
import {
  ed25519Identity,
  expectRefusal,
  type Reply,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkChain } from '../../../src/views/admin/audit.ts'

const SECRET = 'the-secret-of-the-admin-operations'
const OPERATIONS = '/v1/internal/operations'

let market: Market
let issuer: OidcIssuer
beforeAll(async () => {
  market = await openMarket()
  issuer = await startOidcIssuer({ now: market.clock.now })
})
afterAll(async () => {
  await market.close()
  await issuer.stop()
})

let shop: TestGateway
/** Opens a gateway for the tests of one `forEachDatabase`. */
function openShop(database: TestDatabase): void {
  beforeAll(async () => {
    shop = await market.open({
      DATABASE_URL: database.url,
      INTERNAL_SECRET: SECRET,
      INTERNAL_OIDC: `issuer=${issuer.issuer},audience=${TEST_AUDIENCE},jwks=${issuer.jwksUrl},subject=scheduler,subject=anna`,
      ADMINS: 'anna',
    })
  })
  afterAll(() => shop.close())
}

const as = (who: string) => ({ authorization: `Bearer ${who === 'secret' ? SECRET : issuer.token({ sub: who })}` })
const read = async <Body>(path: string, who = 'secret'): Promise<Reply<Body>> =>
  shop.send<Body>('GET', OPERATIONS + path, undefined, as(who))
const act = <Body>(method: string, path: string, body: object, who = 'anna') =>
  shop.send<Body>(method, OPERATIONS + path, { reason: 'a customer wrote', ...body }, as(who))
const audit = async (target?: string) =>
  (await read<operations.AuditLog>(`/audit${target ? `?target=${encodeURIComponent(target)}` : ''}`)).body
const text = async (path: string) =>
  (await fetch(shop.gateway.url + OPERATIONS + path, { headers: as('secret') })).text()

forEachDatabase("the admin's endpoints", (database) => {
  openShop(database)

  async function deadJob(): Promise<string> {
    const { queue, database } = shop.gateway.context
    const receipt_id = `rcpt_${'0'.repeat(32)}`
    await writable(database.db)
      .transaction()
      .execute((tx) => queue.enqueue(tx, 'attest', { receipt_id }))
    await queue.drain()
    return (await queue.deadLetters())[0]!.id
  }

  it('ADD-25 T-26 every internal caller may read, only a named identity may act, and a refused attempt is recorded', async () => {
    expect((await read('/identity')).body).toEqual({ identity: 'secret', kind: 'secret', may_act: false })
    expect((await read('/identity', 'anna')).body).toEqual({ identity: 'oidc:anna', kind: 'oidc', may_act: true })
    expectRefusal(await shop.send('GET', `${OPERATIONS}/overview`), 401, 'INTERNAL_AUTH_REQUIRED')
    const { entries: before } = (await audit()).chain
    const acts = [
      ['POST', '/jobs/x/retry', {}],
      ['POST', '/jobs/x/delete', {}],
      ['PUT', '/lockers/locker_000000000000/restriction', { restriction: 'frozen' }],
      ['POST', '/payments/attach', {}],
      ['POST', '/payments/refund', {}],
    ] as const
    for (const [method, path, body] of acts) {
      expectRefusal(await shop.send(method, OPERATIONS + path, body), 401, 'INTERNAL_AUTH_REQUIRED')
      for (const who of ['secret', 'scheduler']) {
        expectRefusal(await act(method, path, body, who), 403, 'ACTING_IDENTITY_REQUIRED')
      }
      expect((await act<{ error: string }>(method, path, { reason: ' ' })).status).toBe(422)
    }
    const { entries, chain } = await audit()
    expect(entries[0]).toMatchObject({ actor: 'oidc:scheduler', action: 'refund_payment', outcome: 'refused' })
    expect(chain).toMatchObject({ intact: true, entries: before + 10 })
  })

  it('ADD-25 samples growth once an hour, and keeps one sample a day after ninety days', async () => {
    await shop.locker(ed25519Identity())
    market.clock.advance(3600)
    const { queue, database } = shop.gateway.context
    const now = Math.floor(market.clock.now() / 1000)
    const old = now - 100 * 86_400
    const day = old - (old % 86_400)
    const sample = { lockers: 1, files: 1, bytes: 1, purchases: 1 }
    const hours = [0, 1, 2].map((hour) => ({ sampled_at: day + hour * 3600, ...sample }))
    await writable(database.db).insertInto('growth_samples').values(hours).execute()
    await writable(database.db)
      .transaction()
      .execute((tx) => queue.enqueue(tx, 'sample-growth', {}))
    await queue.drain()
    const from = new Date((day - 1) * 1000).toISOString()
    const { samples } = (await read<operations.AdminGrowth>(`/growth?from=${from}`)).body
    const { lockers, purchases } = (await read<operations.AdminOverview>('/overview')).body
    const isOld = ({ at }: { at: string }) => Date.parse(at) < (day + 86_400) * 1000
    expect(samples.filter(isOld)).toMatchObject([sample])
    expect(samples.at(-1)).toMatchObject({ lockers, purchases })
    expect([lockers > 0, purchases > 0]).toEqual([true, true])
  })

  it('ADD-25 lists dead jobs without secrets, retries and deletes each once, and records both actions', async () => {
    const id = await deadJob()
    const { jobs } = (await read<{ jobs: operations.AdminJob[] }>('/jobs')).body
    expect(jobs[0]).toMatchObject({ job_id: id, kind: 'attest', state: 'dead', attempts: 1, due_at: null })
    const one = (await read<operations.AdminJobDetails>(`/jobs/${id}`)).body
    expect(one).toMatchObject({ payload: { receipt_id: `rcpt_${'0'.repeat(32)}` } })
    expect(one.error).toContain('receipt_not_found')
    expectRefusal(await act('POST', '/jobs/none/retry', {}), 404, 'job_not_found')

    const retried = (await act<{ changed: boolean; job_id: string }>('POST', `/jobs/${id}/retry`, {})).body
    expect(retried.changed).toBe(true)
    const waiting = (await read<{ jobs: operations.AdminJob[] }>('/jobs?state=waiting&kind=attest')).body.jobs
    expect(waiting.map(({ job_id }) => job_id)).toEqual([retried.job_id])
    expect((await act('POST', `/jobs/${id}/retry`, {})).body).toEqual({ ...retried, changed: false })
    expect((await audit(id)).entries).toMatchObject([
      { actor: 'oidc:anna', action: 'retry_job', reason: 'a customer wrote', details: { new_job_id: retried.job_id } },
    ])

    await shop.gateway.context.queue.drain()
    const deleted = await act<{ changed: boolean }>('POST', `/jobs/${retried.job_id}/delete`, {})
    expect(deleted.body).toEqual({ ok: true, changed: true })
    expect((await act('POST', `/jobs/${retried.job_id}/delete`, {})).body).toEqual({ ok: true, changed: false })
    expect((await audit(retried.job_id)).entries).toHaveLength(1)
  })

  it('ADD-25 finds a locker by its id, its receipt and its wallets, and records a repeated restriction once', async () => {
    const [owner, operator] = [ed25519Identity(), ed25519Identity()]
    const locker = await shop.locker(owner, { operators: [operator] })
    for (const q of [locker.lockerId, locker.receiptId, owner.identity, operator.identity]) {
      const { lockers } = (await read<{ lockers: operations.AdminLocker[] }>(`/lockers?q=${q}`)).body
      expect(lockers.map(({ locker_id }) => locker_id)).toEqual([locker.lockerId])
    }
    const path = `/lockers/${locker.lockerId}`
    const freeze = () => act<{ changed: boolean }>('PUT', `${path}/restriction`, { restriction: 'frozen' })
    expect([(await freeze()).body.changed, (await freeze()).body.changed]).toEqual([true, false])
    const shown = (await read<operations.AdminLockerDetails>(path)).body
    expect(shown.restriction).toMatchObject({ state: 'frozen' })
    expect(shown.audit).toMatchObject([{ action: 'freeze_locker', details: { before: 'none', after: 'frozen' } }])
    expectRefusal(await read('/lockers/locker_000000000000'), 404, 'locker_not_found')
  })

  it('ADD-25 lists all lockers and accepted payments in pages, newest first', async () => {
    const made: TestLocker[] = []
    for (let i = 0; i < 3; i++) {
      market.clock.advance(1)
      made.unshift(await shop.locker(ed25519Identity()))
    }
    type LockerPage = { lockers: operations.AdminLocker[]; next_cursor: string }
    const first = (await read<LockerPage>('/lockers?limit=2')).body
    const next = (await read<LockerPage>(`/lockers?limit=1&cursor=${first.next_cursor}`)).body
    expect([...first.lockers, ...next.lockers].map(({ locker_id }) => locker_id)).toEqual(
      made.map(({ lockerId }) => lockerId),
    )

    type PaymentPage = { receipts: { receipt_id: string }[]; next_cursor: string }
    const newest = (await read<PaymentPage>('/payments/accepted?limit=2')).body
    const older = (await read<PaymentPage>(`/payments/accepted?limit=1&cursor=${newest.next_cursor}`)).body
    expect([...newest.receipts, ...older.receipts].map(({ receipt_id }) => receipt_id)).toEqual(
      made.map(({ receiptId }) => receiptId),
    )
    for (const path of ['/lockers', '/payments/accepted'])
      expectRefusal(await read(`${path}?cursor=abc`), 422, 'validation_error')
  })

  describe('payments that match no quote', () => {
    const network = 'primary-mainnet'

    /** Pays this share of a quote (1n: all, 2n: half) after it has expired. */
    async function latePayment(share: bigint) {
      const quote = await shop.quote({ units: 1, pay_network: network, pay_asset: 'USDC' })
      const leg = legOf(quote, 'USDC')
      market.clock.advance(3600)
      const tx = await market.pay({ ...leg, amount: String(BigInt(leg.amount) / share) })
      const pay_req_id = payReqId(quote)
      expectRefusal(await shop.confirm({ pay_req_id }, tx), 410, 'quote_expired')
      return { tx, pay_req_id, amount: BigInt(leg.amount) / share }
    }

    it('ADD-25 a late payment is looked up and attached to its quote once', async () => {
      const { tx, pay_req_id, amount } = await latePayment(1n)
      const shown = (await read<operations.AdminPayment>(`/payments?network=${network}&tx=${tx}`)).body
      expect(shown).toMatchObject({ chain: 'found', claimed_raw: '0', receipts: [], refund: null })
      expect(shown.arrivals).toMatchObject([{ asset: 'USDC', received_raw: String(amount) }])
      const attach = () =>
        act<{ changed: boolean }>('POST', '/payments/attach', { network, tx, asset: 'USDC', pay_req_id })
      const attached = await attach()
      expect(attached.body).toMatchObject({ changed: true, receipt: { pay_req_id, tx_hash: tx } })
      expect((await attach()).body).toEqual({ ...attached.body, changed: false })
      expect((await audit(`${network} ${tx}`)).entries).toMatchObject([{ action: 'attach_payment' }])
      const refund = { network, tx, asset: 'USDC', amount_raw: String(amount) }
      expectRefusal(await act('POST', '/payments/refund', refund), 409, 'payment_already_used')
    })

    it('T-205 ADD-25 a paged list shows unclaimed payments, newest first, until they are attached or refunded', async () => {
      const late = [await latePayment(1n), await latePayment(2n), await latePayment(1n)].toReversed()
      type List = { payments: operations.UnclaimedPayment[]; next_cursor?: string }
      const list = async (query: string) => (await read<List>(`/payments/unclaimed${query}`)).body
      const first = await list('?limit=2')
      const second = await list(`?limit=1&cursor=${first.next_cursor}`)
      const shown = [...first.payments, ...second.payments]
      expect(shown.map(({ tx, reason, state }) => [tx, reason, state])).toEqual(
        late.map(({ tx }, i) => [tx, i === 1 ? 'amount_too_small' : 'after_quote', 'open']),
      )
      const [{ tx, pay_req_id, amount }, small] = late as [(typeof late)[0], (typeof late)[0]]
      expect(shown[0]).toMatchObject({
        pay_req_id,
        received_raw: String(amount),
        left_raw: String(amount),
        receipt: null,
      })
      await act('POST', '/payments/attach', { network, tx, asset: 'USDC', pay_req_id })
      await act('POST', '/payments/refund', { network, tx: small.tx, asset: 'USDC', amount_raw: String(small.amount) })
      const states = async (query: string) => {
        const { payments } = await list(query)
        return late.slice(0, 2).map((one) => payments.find(({ tx }) => tx === one.tx)?.state)
      }
      expect(await states('')).toEqual([undefined, 'refund_decided'])
      expect(await states('?state=all')).toEqual(['claimed', 'refund_decided'])
      expectRefusal(await read('/payments/unclaimed?cursor=x'), 422, 'validation_error')
      expectRefusal(await shop.send('GET', `${OPERATIONS}/payments/unclaimed`), 401, 'INTERNAL_AUTH_REQUIRED')
    })

    it('ADD-25 an underpayment is attached only with accept_less', async () => {
      const { tx, pay_req_id, amount } = await latePayment(2n)
      const order = { network, tx, asset: 'USDC', pay_req_id }
      expectRefusal(await act('POST', '/payments/attach', order), 402, 'payment_verification_failed')
      const attached = await act<object>('POST', '/payments/attach', { ...order, accept_less: true })
      expect(attached.body).toMatchObject({ changed: true, receipt: { paid_raw: String(amount) } })
    })

    it('ADD-25 T-01 a refund is recorded before and after it is sent, and a refunded payment buys nothing', async () => {
      await buy(market, shop, { units: 1, pay_network: network, pay_asset: 'USDC' })
      const { tx, pay_req_id, amount } = await latePayment(1n)
      const order = { network, tx, asset: 'USDC', amount_raw: String(amount) }
      const decided = await act<{ changed: boolean }>('POST', '/payments/refund', order)
      expect(decided.body).toMatchObject({ changed: true, refund: { refund_tx: null, decided_by: 'oidc:anna' } })
      expect((await act<{ changed: boolean }>('POST', '/payments/refund', order)).body.changed).toBe(false)
      const refund_tx = tx.split('').reverse().join('')
      const sent = await act<{ changed: boolean }>('POST', '/payments/refund', { ...order, refund_tx })
      expect(sent.body).toMatchObject({ changed: true, refund: { refund_tx } })
      expect((await audit(`${network} ${tx}`)).entries).toHaveLength(2)
      const other = { ...order, refund_tx: tx }
      expectRefusal(await act('POST', '/payments/refund', other), 409, 'payment_already_used')
      const attach = { network, tx, asset: 'USDC', pay_req_id }
      expectRefusal(await act('POST', '/payments/attach', attach), 409, 'payment_already_used')
      expect(await text('/treasury-statement')).toContain(`,refund,${network},USDC,${amount},`)
    })
  })

  describe('refunds', () => {
    const network = 'primary-mainnet'
    type Refunded = { changed: boolean; refund: operations.AdminPayment['refunds'][number] }
    const refund = (order: object) => act<Refunded>('POST', '/payments/refund', { network, ...order })
    const lookUp = async (tx: string) =>
      (await read<operations.AdminPayment>(`/payments?network=${network}&tx=${tx}`)).body
    const reverse = (tx: string) => tx.split('').reverse().join('')

    /** Pays in SOL and USDC in one transaction, as a wallet may. */
    async function payTwice(quote: Quote): Promise<string> {
      const signer = await signerOf(DEMO_PAYERS[0]!)
      const [sol, usdc] = [legOf(quote, 'SOL'), legOf(quote, 'USDC')]
      const mint = address(usdc.asset)
      const of = { owner: signer.address, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS }
      const [source] = await findAssociatedTokenPda(of)
      return send(createSolanaRpc(market.chains.primary.url), signer, [
        getTransferSolInstruction({ source: signer, destination: address(sol.payTo), amount: BigInt(sol.amount) }),
        getTransferCheckedInstruction({
          source,
          mint,
          destination: address(usdc.payTo),
          authority: signer,
          amount: BigInt(usdc.amount) + 100n,
          decimals: usdc.extra.decimals,
        }),
      ])
    }

    it('T-205 each asset of a transaction is refunded separately, and the share of a receipt is not refundable', async () => {
      const quote = await shop.quote({ units: 1 })
      const pay_req_id = payReqId(quote)
      const [sol, usdc] = [legOf(quote, 'SOL').amount, legOf(quote, 'USDC').amount]
      const tx = await payTwice(quote)
      expect((await refund({ tx, asset: 'SOL', amount_raw: sol })).body.changed).toBe(true)
      expectRefusal(await refund({ tx, asset: 'SOL', amount_raw: '1' }), 409, 'payment_already_used')
      const order = { network, tx, asset: 'USDC', pay_req_id }
      expect((await act<{ changed: boolean }>('POST', '/payments/attach', order)).body.changed).toBe(true)
      expectRefusal(await refund({ tx, asset: 'USDC', amount_raw: '101' }), 409, 'payment_already_used')
      expect((await refund({ tx, asset: 'USDC', amount_raw: '60' })).body.changed).toBe(true)
      expect((await refund({ tx, asset: 'USDC', amount_raw: '40' })).body.changed).toBe(true)
      expectRefusal(await refund({ tx, asset: 'USDC', amount_raw: '1' }), 409, 'payment_already_used')
      expectRefusal(await refund({ tx, asset: 'USDC', amount_raw: '0' }), 422, 'validation_error')
      const shown = await lookUp(tx)
      expect(shown.refunds.map(({ asset, amount_raw }) => [asset, amount_raw])).toEqual([
        ['SOL', sol],
        ['USDC', '60'],
        ['USDC', '40'],
      ])
      expect(shown.refund).toEqual(shown.refunds[0])
      const totals = shown.arrivals.map(({ asset, claimed_raw, refunded_raw }) => [asset, claimed_raw, refunded_raw])
      expect(totals).toContainEqual(['USDC', usdc, '100'])
      expect(totals).toContainEqual(['SOL', '0', sol])
      const lines = (await text('/treasury-statement')).split('\n').filter((line) => line.includes(tx))
      expect(lines.filter((line) => line.includes(`refund decided,${network},`))).toHaveLength(3)
    })

    it('T-205 concurrent refunds never exceed the amount received, and a repeated decision counts once', async () => {
      const quote = await shop.quote({ units: 1, pay_network: network, pay_asset: 'USDC' })
      const total = BigInt(legOf(quote, 'USDC').amount)
      const tx = await market.pay(legOf(quote, 'USDC'))
      const most = { tx, asset: 'USDC', amount_raw: String(total - 1n) }
      const same = await Promise.all([1, 2, 3].map(() => refund(most)))
      expect(same.map(({ body }) => body.changed).sort()).toEqual([false, false, true])
      const orders = [refund({ ...most, amount_raw: String(total - 2n) }), refund({ ...most, amount_raw: '1' })]
      const confirmed = shop.confirm({ pay_req_id: payReqId(quote) }, tx)
      expect((await Promise.all(orders)).map(({ status }) => status).sort()).toEqual([200, 409])
      expectRefusal(await confirmed, 402, 'payment_verification_failed')
      expect((await lookUp(tx)).refunds).toHaveLength(2)
      // The transaction of a refund tells apart two refunds of equal amounts.
      const sent = await refund({ ...most, refund_tx: reverse(tx) })
      expect(sent.body).toMatchObject({ changed: true, refund: { refund_tx: reverse(tx) } })
      expectRefusal(await refund({ ...most, refund_tx: tx }), 409, 'payment_already_used')
      expect((await audit(`${network} ${tx}`)).entries).toHaveLength(3)
    })
  })
})

forEachDatabase('sales and lockers', (database) => {
  openShop(database)

  it('ADD-25 the overview includes the newest sales, and sales are shown over time by asset and provider', async () => {
    const first = await buy(market, shop, { units: 2 })
    await shop.locker(ed25519Identity())
    const quote = await shop.quote({ units: 1, provider: 'storj' })
    const evm = legOf(quote, 'USDC', 'evm-mainnet')
    const tx = await market.pay(evm)
    await shop.confirm({ pay_req_id: payReqId(quote), pay_network: 'evm-mainnet', pay_asset: 'USDC' }, tx)

    const period = { valid_from: '2026-01-01T00:00:00Z', valid_to: '2026-02-01T00:00:00Z' }
    const stolen = { public_key_hex: 'ab'.repeat(32), ...period, revoked_since: '2026-01-15T00:00:00Z' }
    await writable(shop.gateway.context.database.db).insertInto('signing_keys').values(stolen).execute()

    // The overview is read first: it must add up the sales itself.
    const overview = (await read<operations.AdminOverview>('/overview')).body
    const sales = (await read<operations.AdminSales>('/sales?bucket=hour')).body
    expect(sales.uncounted).toBe(0)
    const sold = sales.periods.find(({ provider }) => provider === 'storj')
    expect(sold).toMatchObject({ network: 'evm-mainnet', asset: 'USDC', purchases: 1, units: 1, paid_raw: evm.amount })
    expect(sold!.price_usd).toBeCloseTo(quote.extensions.svc.price_summary.total_usd)
    const day = (await read<operations.AdminSales>('/sales')).body
    expect(day.periods.reduce((sum, { purchases }) => sum + purchases, 0)).toBe(3)
    expect((await read('/sales?bucket=hour&from=2001-01-01T00:00:00Z')).status).toBe(422)
    expect(overview).toMatchObject({ lockers: 1, purchases: 3, files: 0, frozen: 0 })
    expect(overview.price_usd_total).toBeCloseTo(day.periods.reduce((sum, { price_usd }) => sum + price_usd, 0))
    expect(overview.price_feed).toMatchObject({ state: 'ok' })
    expect(overview.keys).toMatchObject([
      { use: 'statement', status: 'active', valid_to: null, age_seconds: 0 },
      { use: 'statement', status: 'revoked', valid_to: '2026-01-15T00:00:00Z' },
      { use: 'publication', status: 'active' },
      { use: 'short-url', status: 'active' },
      { use: 'log', status: 'active', id: expect.stringContaining('/log+') },
    ])
    expect(overview.providers.every(({ healthy }) => healthy)).toBe(true)
    expect(overview.jobs.by_kind['attest-payment']).toMatchObject({ dead: 0 })

    const lines = (await text('/receipts')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).receipt_id)).toContain(first.receipt_id)
    expect(lines).toHaveLength(3)
    const rows = (await text('/receipts?format=csv')).trim().split('\r\n')
    expect(rows[0]).toMatch(/^confirmed_at,receipt_id,/)
    expect(rows).toHaveLength(4)
    expect(await text('/treasury-statement')).toContain(`,purchase,evm-mainnet,USDC,${evm.amount},`)

    const routes = (await read<operations.SlowRoutes>('/slow-routes')).body.routes
    expect(routes.find(({ route }) => route === '/v1/storage/request')!.requests).toBeGreaterThan(1)
  })
})

forEachDatabase('the audit trail', (database) => {
  openShop(database)

  it('T-26 rejects every change, and the hash chain reveals a change made around that', async () => {
    const { db, dialect } = shop.gateway.context.database
    for (const job of ['x', 'y', 'z']) await act('POST', `/jobs/${job}/retry`, {}, 'scheduler')
    const before = (await audit()).chain
    expect(before).toMatchObject({ intact: true, entries: 3 })
    const change = () =>
      writable(db).updateTable('audit_log').set({ actor: 'nobody' }).where('sequence', '=', 2).execute()
    const removeLast = () => writable(db).deleteFrom('audit_log').where('sequence', '=', before.entries).execute()
    await expect(change()).rejects.toThrow('append-only')
    await expect(removeLast()).rejects.toThrow('append-only')
    const replace = sql`insert or replace into audit_log
      select sequence, at, 'nobody', action, target, outcome, reason, details, previous_hash, hash from audit_log`
    if (dialect === 'sqlite') await expect(replace.execute(writable(db))).rejects.toThrow('append-only')
    if (dialect === 'postgres')
      await expect(sql`truncate audit_log`.execute(writable(db))).rejects.toThrow('append-only')
    for (const trigger of dialect === 'postgres' ? ['append_only'] : ['no_update', 'no_delete'])
      await sql
        .raw(`drop trigger audit_log_${trigger}${dialect === 'postgres' ? ' on audit_log' : ''}`)
        .execute(writable(db))
    const second = await db.selectFrom('audit_log').select('actor').where('sequence', '=', 2).executeTakeFirstOrThrow()
    // The endpoint checks each entry once and the whole chain again after an hour; the command line always checks all.
    await change()
    expect((await audit()).chain).toMatchObject({ intact: true, head: before.head, checked_at: before.checked_at })
    expect(await checkChain(db)).toMatchObject({ intact: false, broken_at: 2 })
    market.clock.advance(3600)
    expect((await audit()).chain).toMatchObject({ intact: false, broken_at: 2 })
    await writable(db).updateTable('audit_log').set({ actor: second.actor }).where('sequence', '=', 2).execute()
    market.clock.advance(3600)
    expect((await audit()).chain).toMatchObject({ intact: true, head: before.head })
    await removeLast()
    expect(await checkChain(db, before.head)).toMatchObject({ intact: false, broken_at: before.entries })
    await change()
    expect((await audit()).chain).toMatchObject({ intact: false, broken_at: 2 })
  })
})
