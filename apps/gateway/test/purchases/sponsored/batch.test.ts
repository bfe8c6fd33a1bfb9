import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { lockerId, receiptId } from '@svc/protocol/ids'
import { expectError, legOf, type Market, payReqId } from '@svc/testbed/market'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OWNER, openSponsoredMarket, quotes, type SponsoredMarket, type SponsoredShop } from './sponsored-market.ts'

let sponsored: SponsoredMarket
let market: Market
let shop: SponsoredShop
beforeAll(async () => {
  sponsored = await openSponsoredMarket()
  market = sponsored.market
  shop = await sponsored.open({ MAX_LOCKERS_PER_OWNER: '1000' })
})
afterAll(() => sponsored.close())

const batchOf = (pay_req_ids: readonly string[], tx_sig: string) => ({ pay_req_ids, tx_sig, owner_identity: OWNER })

describe('a sponsored batch', () => {
  it('SPON-04 SPON-05 SPON-06 SHAPE-19 a sponsored batch gives every position its receipt and locker, in the order of the request', async () => {
    const { ids, sum } = await quotes(shop, 3)
    const tx = await market.pay(sum)
    const { status, headers, body } = await shop.sponsorBatch({ ...batchOf(ids, tx), tags: ['batch'] })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const results = ids.map((pay_req_id, position) => {
      const receipt_id = receiptId(pay_req_id, tx)
      const locker_id = lockerId(receipt_id)
      return { position, pay_req_id, ok: true, receipt_id, locker_id, already_provisioned: false, error: null }
    })
    const head = { ok: true, tx_sig: tx, owner_identity: OWNER, network: 'primary-mainnet' }
    expect(body).toEqual({ ...head, total: 3, succeeded: 3, failed: 0, results })
    const { lockers = [] } = await shop.written()
    for (const { locker_id } of results)
      expect(lockers).toContainEqual(
        expect.objectContaining({ locker_id, owner: OWNER, operators: '[]', tags: '["batch"]' }),
      )
    const receipt = await shop.send('GET', `/v1/receipts/${results[2]!.receipt_id}`)
    expect(receipt.body).toMatchObject({ pay_asset: 'USDC', paid_raw: '250000', received_raw: '750000' })
  })

  it('SPON-08 AMB-48 T-01 a batch paid one atomic unit less than the sum is refused, and nothing is written', async () => {
    const { ids, sum } = await quotes(shop, 3)
    const tx = await market.pay(sum, { amount: BigInt(sum.amount) - 1n })
    const before = await shop.written()
    const refusal = [402, 'payment_verification_failed', 'amount_too_small'] as const
    expectError(await shop.sponsorBatch(batchOf(ids, tx)), ...refusal)
    expect(await shop.written()).toEqual(before)
    expect((await shop.sponsorBatch(batchOf(ids.slice(0, 2), tx))).body).toMatchObject({ ok: true })
    expectError(await shop.sponsorBatch(batchOf(ids, tx)), ...refusal)
  })

  it('SPON-02 AMB-48 a batch for an owner who is not the payer is a 403, and nothing is written', async () => {
    const { ids, sum } = await quotes(shop, 2)
    const tx = await market.pay(sum)
    const stranger = { ...batchOf(ids, tx), owner_identity: DEMO_PAYERS[1]!.address }
    const before = await shop.written()
    expectError(await shop.sponsorBatch(stranger), 403, 'OWNER_IDENTITY_MISMATCH')
    expect(await shop.written()).toEqual(before)
    const { ids: theirs, sum: theirSum } = await quotes(shop, 1)
    const theirTx = await market.pay(theirSum, { payer: 1 })
    expect((await shop.sponsorBatch({ ...stranger, pay_req_ids: theirs, tx_sig: theirTx })).status).toBe(200)
    const mixed = await shop.written()
    expectError(await shop.sponsorBatch(batchOf([...ids, ...theirs], tx)), 403, 'OWNER_IDENTITY_MISMATCH')
    expect(await shop.written()).toEqual(mixed)
  })

  it('AMB-06 a batch with an expired quote is a 410, unless it was paid in time', async () => {
    const old = await quotes(shop, 1)
    market.clock.advance(200)
    const young = await quotes(shop, 1)
    const ids = [...young.ids, ...old.ids]
    const sum = { ...old.sum, amount: String(BigInt(old.sum.amount) * 2n) }
    const inTime = await market.pay(sum)
    market.clock.advance(101)
    const late = await market.pay(sum)
    expectError(await shop.sponsorBatch(batchOf(ids, late)), 410, 'quote_expired')
    expect((await shop.sponsorBatch(batchOf(ids, inTime))).body).toMatchObject({ ok: true })
  })
})

describe('a sponsored batch that is refused', () => {
  it.each([
    ['no quotes', []],
    ['101 quotes', Array.from({ length: 101 }, (_, i) => `pr_${i}`)],
    ['a quote twice', ['pr_1', 'pr_2', 'pr_1']],
  ])('SPON-04 AMB-48 a batch with %s is a 422', async (_, pay_req_ids) => {
    const body = { pay_req_ids, tx_sig: `0x${'ab'.repeat(32)}`, owner_identity: OWNER }
    const reply = await shop.sponsorBatch(body)
    expectError(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: expect.arrayContaining(['body', 'pay_req_ids']) }] })
  })

  it('SPON-04 a batch with unknown quotes is a 404 that names them', async () => {
    const { ids, sum } = await quotes(shop, 1)
    const unknown = `pr_${'0'.repeat(32)}`
    const reply = await shop.sponsorBatch(batchOf([unknown, ...ids], await market.pay(sum)))
    expectError(reply, 404, 'pay_req_not_found')
    expect(reply.body).toMatchObject({ details: { pay_req_ids: [unknown] } })
  })

  it('SPON-09 AMB-48 a batch with quotes of two networks is a 400, whichever was paid', async () => {
    const primary = await shop.quote({ units: 1, pay_network: 'primary-mainnet' })
    const evm = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
    const both = await shop.quote()
    const onPrimary = await market.pay(legOf(primary, 'USDC'), { amount: 10_000_000n, memo: null })
    const onEvm = await market.pay(legOf(evm, 'USDC', 'evm-mainnet'), { amount: 10_000_000n, memo: null })
    const before = await shop.written()
    for (const ids of [[primary, evm].map(payReqId), [both, evm, primary].map(payReqId)])
      for (const tx of [onPrimary, onEvm]) expectError(await shop.sponsorBatch(batchOf(ids, tx)), 400, 'mixed_networks')
    expectError(await shop.sponsorBatch(batchOf([both, evm].map(payReqId), onPrimary)), 400, 'mixed_networks')
    expect(await shop.written()).toEqual(before)
    const onOne = await shop.sponsorBatch(batchOf([both, primary].map(payReqId), onPrimary))
    expect(onOne.body).toMatchObject({ ok: true, network: 'primary-mainnet' })
    expectError(await shop.sponsorBatch(batchOf([both, evm].map(payReqId), onEvm)), 400, 'mixed_networks')
  })
})
