import type { Quote } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import type { X402Quote } from '@svc/api/x402'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { withBody, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { payLeg } from '@svc/devnet/pay-leg'
import { expectError, legOf, payReqId } from '@svc/devnet/services/market'
import { testGatewayOf } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { paymentAttCode } from '@svc/protocol/ids'
import { afterEach, describe, expect, it } from 'vitest'
import { migrations } from '../../../../src/db/migrations.ts'
import type { Schema } from '../../../../src/db/schema.ts'
import { resumeSettlements } from '../../../../src/purchases/protocols/x402/settle.ts'
import {
  deleteSettlement,
  findQuoteOfPayment,
  findSettlement,
  insertSettlement,
  replaceTransaction,
  type Settlement,
} from '../../../../src/purchases/protocols/x402/store.ts'
import { findReceiptOfRequest } from '../../../../src/purchases/store.ts'
import { expectPending, READ, SEND, startFaultyTestbed, TAKEN } from './faulty-testbed.ts'
import {
  asRequirements,
  encoded,
  FAMILIES,
  legOn,
  PRICE,
  pay,
  post,
  signFor,
  treasuryUsdc,
  WALLETS,
  walletOn,
} from './x402-testbed.ts'

const testbed = forAllTests(() => startFaultyTestbed())
/** The milliseconds that the gateway's clock is ahead of the chains. */
let ahead = 0
const gateway = forAllTests(() => testbed.open({}, { now: () => Date.now() + ahead }))
afterEach(() => testbed.calm())

const QUOTE_MS = 300_000

it('T-01 all settlements of buyers who did not return are finished, page by page', async () => {
  const ids: string[] = []
  testbed.nodes.primary.behave(withResult(READ.primary, () => null))
  for (let i = 0; i < 3; i++) {
    const { text, payload } = await signFor(await walletOn('primary', testbed.chains), gateway.url)
    expectPending(await pay(gateway.url, text))
    ids.push(String(payload.accepted.extra.pay_req_id))
  }
  testbed.calm()
  ahead += QUOTE_MS + 61_000
  // Each page has one settlement.
  for (const _ of ['sends', 'finds']) await resumeSettlements(gateway.context, 1)
  const receipts = ids.map((id) => findReceiptOfRequest(gateway.context.database.db, id))
  expect(await Promise.all(receipts)).toEqual(ids.map((pay_req_id) => expect.objectContaining({ pay_req_id })))
})

describe.each(FAMILIES)('a payment on the %s chain whose buyer does not return', (family) => {
  it.each([
    [
      'a successful payment gets its receipt after the quote, without its buyer',
      () => withResult(READ[family], () => null),
    ],
    [
      'a payment that was recorded but not sent is sent after the quote and gets its receipt',
      () => withBody(SEND[family], TAKEN[family]),
    ],
  ])('T-01 EVT-02 %s', async (_name, fault) => {
    const before = await treasuryUsdc(family, testbed.chains)
    const { text, payload } = await signFor(await walletOn(family, testbed.chains), gateway.url)
    testbed.nodes[family].behave(fault())
    expectPending(await pay(gateway.url, text))
    testbed.calm()
    const { queue, database } = gateway.context
    const payReqId = String(payload.accepted.extra.pay_req_id)
    await queue.drain()
    expect(await findReceiptOfRequest(database.db, payReqId)).toBeNull()
    ahead += QUOTE_MS
    // The first run may have to send the payment, and the next one finds it.
    for (const _ of ['first', 'second']) {
      ahead += 61_000
      expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
    }
    const receipt = await findReceiptOfRequest(database.db, payReqId)
    expect(receipt).toMatchObject({ paid_raw: String(PRICE) })
    expect(await testbed.paidSince(family, before)).toBe(PRICE)
    const locker = database.db.selectFrom('lockers').select('locker_id').where('receipt_id', '=', receipt!.receipt_id)
    const opened = await locker.executeTakeFirst()
    expect((await pay(gateway.url, text)).body).toMatchObject({ receipt, ...opened })
    const codes = database.db.selectFrom('payment_codes').select('att_code')
    const { att_code } = await codes.where('receipt_id', '=', receipt!.receipt_id).executeTakeFirstOrThrow()
    expect(att_code).toBe(paymentAttCode(receipt!))
  })

  it.each([true, false])(
    'T-205 ADD-13 a payment that lands after another has paid its quote is recorded for refund and gets no receipt (its buyer returns: %s)',
    async (comesBack) => {
      const { text, payload, quote } = await signFor(await walletOn(family, testbed.chains), gateway.url)
      testbed.nodes[family].behave(withResult(READ[family], () => null))
      const second = expectPending(await pay(gateway.url, text))
      testbed.calm()
      const leg = legOn(family, quote)
      const payTo = leg.extra.token_account ?? leg.payTo
      const paidBy = await payLeg(testbed.chains, { ...leg, payTo } as PaymentLeg, { payer: 3 })
      await testbed.chains[family].chain.settle()
      const pay_req_id = String(payload.accepted.extra.pay_req_id)
      const choice = { pay_network: leg.network, pay_asset: leg.extra.name }
      const { body } = await testGatewayOf(gateway).confirm({ pay_req_id, ...choice }, paidBy)
      expect(body.receipt.tx_hash).toBe(paidBy)
      const { queue, database } = gateway.context
      if (!comesBack) {
        ahead += QUOTE_MS + 61_000
        expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
      }
      const noted = () =>
        database.db.selectFrom('unclaimed_payments').selectAll().where('pay_req_id', '=', pay_req_id).execute()
      expect(await noted()).toHaveLength(comesBack ? 0 : 1)
      const refused = await pay(gateway.url, text)
      expectError(refused, 402, 'payment_verification_failed', 'quote_already_paid')
      expect(refused.body).toMatchObject({ details: { noted_for_refund: true } })
      for (const secret of [body.receipt_id, paidBy]) expect(JSON.stringify(refused.body)).not.toContain(secret)
      expect(await noted()).toMatchObject([{ tx: second, reason: 'quote_already_paid', received: String(PRICE) }])
      // The payment is known, so no node is asked for it again.
      const asked = testbed.nodes[family].calls.length
      ahead += 61_000
      await queue.drain()
      expect(testbed.nodes[family].calls.slice(asked)).not.toContain(READ[family])
    },
  )

  it('T-01 EVT-02 a payment gets its receipt and its locker from any later request', async () => {
    const headers = { 'idempotency-key': `lost-${family}` }
    const { body: quote } = await post<X402Quote>(gateway.url, { units: 1 }, headers)
    const accepts = [asRequirements(legOn(family, quote))]
    const text = encoded(await (await walletOn(family, testbed.chains)).createPaymentPayload({ ...quote, accepts }))
    testbed.nodes[family].behave(withResult(READ[family], () => null))
    expectPending(await pay(gateway.url, text))
    testbed.calm()
    await testbed.chains[family].chain.settle()
    const { db } = gateway.context.database
    // The buyer requests the quote again and then never returns.
    expect((await post<X402Quote>(gateway.url, { units: 1 }, headers)).body).toEqual(quote)
    const receipt = await findReceiptOfRequest(db, quote.extensions.svc.info.pay_req_id)
    const { owner } = await db
      .selectFrom('lockers')
      .select('owner')
      .where('receipt_id', '=', receipt!.receipt_id)
      .executeTakeFirstOrThrow()
    expect(owner).toBe(WALLETS[family])
  })

  /** Sends a payment whose outcome is unknown and deletes its records, like a database restored from a backup. */
  async function payWithoutRecord(headers: Record<string, string> = {}) {
    const signed = await signFor(await walletOn(family, testbed.chains), gateway.url, { units: 1 }, headers)
    testbed.nodes[family].behave(withResult(READ[family], () => null))
    const tx = expectPending(await pay(gateway.url, signed.text))
    testbed.calm()
    await testbed.chains[family].chain.settle()
    const { db } = gateway.context.database
    for (const table of ['x402_settlements', 'payment_authorizations'] as const)
      await writable(db)
        .deleteFrom(table)
        .where('pay_req_id', '=', String(signed.payload.accepted.extra.pay_req_id))
        .execute()
    return { ...signed, tx }
  }

  it('T-67 a payment whose records are lost gets its receipt without another signature', {
    tags: ['nightly'],
  }, async () => {
    const before = await treasuryUsdc(family, testbed.chains)
    const [first, late] = [await payWithoutRecord(), await payWithoutRecord()]
    const { status, body } = await pay(gateway.url, first.text)
    expect(status, JSON.stringify(body)).toBe(200)
    const receipt = { tx_hash: first.tx, payer_pubkey: WALLETS[family], paid_raw: String(PRICE) }
    expect(body).toMatchObject({ receipt, locker_id: expect.any(String), idempotent: false })
    expect((await pay(gateway.url, first.text)).body).toMatchObject({ receipt, idempotent: true })
    ahead += QUOTE_MS + 61_000
    expect((await pay(gateway.url, late.text)).body).toMatchObject({ receipt: { tx_hash: late.tx } })
    expect(await testbed.paidSince(family, before)).toBe(2n * PRICE)
  })

  it('T-67 a call repeated under its key pays nothing more after its records are lost, even when nodes prune', async () => {
    const before = await treasuryUsdc(family, testbed.chains)
    const headers = { 'idempotency-key': `repeated-${family}` }
    await testbed.chains.evm.chain.request({ method: 'hardhat_mine', params: ['0x400', '0x0'] })
    ahead += 3_600_000
    const first = await payWithoutRecord(headers)
    testbed.fail(family, { keeps: 500 })
    ahead += 16_000
    // Otherwise the wallet would sign the same transaction again.
    testbed.chains.primary.chain.expireBlockhashes()
    const again = await signFor(await walletOn(family, testbed.chains), gateway.url, { units: 1 }, headers)
    expect(again.quote).toEqual(first.quote)
    expect(again.text).not.toBe(first.text)
    const { status, body } = await post(gateway.url, { units: 1 }, { ...headers, 'payment-signature': again.text })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({ receipt: { tx_hash: first.tx, payer_pubkey: WALLETS[family] }, idempotent: false })
    expect(body.locker_id).toEqual(expect.any(String))
    expect(await testbed.paidSince(family, before)).toBe(PRICE)
  })

  it('a payment is searched for again while its outcome is unknown, up to a limit', async () => {
    const { text, payload } = await signFor(await walletOn(family, testbed.chains), gateway.url)
    testbed.nodes[family].behave(withBody(READ[family], 'out of order'))
    expectPending(await pay(gateway.url, text))
    const { queue, database } = gateway.context
    const asks = async () => {
      const { length } = testbed.nodes[family].calls
      expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
      return testbed.nodes[family].calls.slice(length).filter((method) => method === READ[family]).length
    }
    ahead += QUOTE_MS + 61_000
    expect(await asks()).toBeGreaterThan(0)
    ahead += 8 * 86_400_000
    expect(await asks()).toBe(0)
    const payReqId = String(payload.accepted.extra.pay_req_id)
    expect(await findReceiptOfRequest(database.db, payReqId)).toBeNull()
  })
})

it('T-01 EVT-02 an x402 payment of a quote from /v1/storage/request gets its receipt without its buyer', async () => {
  const { body: quote } = await testGatewayOf(gateway).send<Quote>('POST', '/v1/storage/request', { units: 1 })
  const wallet = await walletOn('evm', testbed.chains)
  // The form of quotes of release 1.0.0, whose buyers may still pay.
  const signable = ({ extra, ...leg }: PaymentLeg) => ({ ...leg, extra: { ...extra, version: '2' } })
  const accepts = [asRequirements(signable(legOf(quote, 'USDC', 'evm-mainnet')))]
  const { db } = gateway.context.database
  const old = JSON.stringify({ ...quote, accepts })
  await writable(db)
    .updateTable('pay_requests')
    .set({ quote: old, template_id: null })
    .where('pay_req_id', '=', payReqId(quote))
    .execute()
  const text = encoded(await wallet.createPaymentPayload({ ...quote, accepts }))
  testbed.nodes.evm.behave(withBody(SEND.evm, TAKEN.evm))
  expectPending(await pay(gateway.url, text))
  testbed.calm()
  ahead += QUOTE_MS + 61_000
  const { queue, database } = gateway.context
  expect(await queue.drain()).toMatchObject({ failed: 0, dead: 0 })
  expect(await findReceiptOfRequest(database.db, payReqId(quote))).toMatchObject({ paid_raw: String(PRICE) })
})

forEachDatabaseInGate('settlements', (database) => {
  const settlement = (changes: Partial<Settlement>): Settlement => ({
    pay_req_id: 'pr_1',
    network: 'evm-mainnet',
    asset: '0xusdc',
    payment_id: '0xfrom:0xnonce',
    tx: '0xtx',
    raw: '0xraw',
    height: 7,
    searched_to: null,
    ...changes,
  })

  it('a quote has one settlement at a time, and a payment settles one quote', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    expect(await insertSettlement(writable(db), settlement({}))).toBe(true)
    expect(await insertSettlement(writable(db), settlement({ payment_id: 'another' }))).toBe(false)
    expect(await insertSettlement(writable(db), settlement({ pay_req_id: 'pr_2' }))).toBe(false)
    expect(await insertSettlement(writable(db), settlement({ pay_req_id: 'pr_2', network: 'primary-mainnet' }))).toBe(
      true,
    )
    expect(await findSettlement(db, 'pr_1')).toEqual(settlement({}))
    expect(await findQuoteOfPayment(db, 'evm-mainnet', '0xfrom:0xnonce')).toBe('pr_1')
    expect(await findQuoteOfPayment(db, 'evm-mainnet', 'another')).toBeNull()
  })

  it('a settlement is replaced or deleted only by its current transaction', async () => {
    const { db } = await database.openMigrated<Schema>(migrations)
    const noted = settlement({ pay_req_id: 'pr_3', payment_id: 'third' })
    await insertSettlement(writable(db), noted)
    const newer = { ...noted, tx: '0xnewer', raw: '0xnewer-raw' }
    expect(await replaceTransaction(writable(db), newer, '0xother')).toBe(false)
    expect(await replaceTransaction(writable(db), newer, noted.tx)).toBe(true)
    await deleteSettlement(writable(db), noted)
    expect(await findSettlement(db, 'pr_3')).toEqual(newer)
    await deleteSettlement(writable(db), newer)
    expect(await findSettlement(db, 'pr_3')).toBeNull()
  })
})
