import { ASSETS } from '@svc/api/assets'
import { EVM } from '@svc/api/networks'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { buy, expectError, legOf, payReqId } from '@svc/devnet/services/market'
import { lockerId, receiptId } from '@svc/protocol/ids'
import { describe, expect, it } from 'vitest'
import { EVM_OWNER, OWNER, openSponsoredMarket, quotes } from './sponsored-market.ts'

const sponsored = forAllTests(() => openSponsoredMarket())
const shop = forAllTests(() => sponsored.open({ MAX_LOCKERS_PER_OWNER: '1000' }))

const LEGS = ASSETS.map(({ ticker, network }) => [ticker, network.name, network === EVM ? EVM_OWNER : OWNER] as const)

/** A paid quote, and the body that confirms it. */
async function paidQuote(order: object = { units: 1 }, tags?: string[]) {
  const quote = await shop.quote(order)
  const tx_sig = await sponsored.market.pay(quote.accepts[0]!)
  return { quote, body: { pay_req_id: payReqId(quote), tx_sig, owner_identity: OWNER, ...(tags && { tags }) } }
}

describe('sponsored confirmation', () => {
  it('SPON-03 SPON-05 a sponsored confirmation returns the receipt and a locker that only the payer owns', async () => {
    const { quote, body } = await paidQuote({ units: 2, provider: 'storj' }, ['team:red'])
    const { status, headers, body: answer } = await shop.sponsor(body)
    expect(status, JSON.stringify(answer)).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const receipt_id = receiptId(body.pay_req_id, body.tx_sig)
    const locker_id = lockerId(receipt_id)
    expect(answer).toMatchObject({
      ok: true,
      receipt_id,
      idempotent: false,
      paid_raw: quote.accepts[0]?.amount,
      pay_asset: 'SOL',
      network: 'primary-mainnet',
      locker_id,
      already_provisioned: false,
      owner_identity: OWNER,
      locker: { locker_id, receipt_id, owner: OWNER, operators: [], tags: ['team:red'], provider: 'storj' },
    })
    expect((await shop.send('GET', `/v1/receipts/${receipt_id}`)).body).toEqual(answer.receipt)
  })

  it.each(LEGS)(
    'SPON-08 AMB-75 a sponsored confirmation detects a payment in %s on %s from the transaction',
    async (ticker, network, owner_identity) => {
      const quote = await shop.quote()
      const leg = legOf(quote, ticker, network)
      const tx_sig = await sponsored.market.pay(leg)
      const { status, body } = await shop.sponsor({ pay_req_id: payReqId(quote), tx_sig, owner_identity })
      expect(status, JSON.stringify(body)).toBe(200)
      expect(body).toMatchObject({ pay_asset: ticker, network, paid_raw: leg.amount })
      expect(body.locker.sig_alg).toBe(network === 'evm-mainnet' ? 'secp256k1' : 'ed25519')
    },
  )

  it('SPON-02 ENV-03 an EVM owner and hash are accepted in any letter case and stored in lower case', async () => {
    const quote = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
    const tx = await sponsored.market.pay(quote.accepts[0]!)
    const body = {
      pay_req_id: payReqId(quote),
      tx_sig: `0x${tx.slice(2).toUpperCase()}`,
      owner_identity: `0x${EVM_OWNER.slice(2).toUpperCase()}`,
    }
    const { body: answer } = await shop.sponsor(body)
    const owner = EVM_OWNER.toLowerCase()
    expect(answer).toMatchObject({
      owner_identity: owner,
      locker: { owner },
      receipt: { payer_pubkey: owner, tx_hash: tx },
    })
    expect((await shop.sponsor({ ...body, tx_sig: tx, owner_identity: owner })).body).toMatchObject({
      idempotent: true,
    })
  })

  it('SPON-02 SPON-08 a sponsored confirmation for an owner who is not the payer is a 403 and writes nothing', async () => {
    const { body } = await paidQuote()
    const before = await shop.written()
    for (const owner_identity of [DEMO_PAYERS[1]!.address, OWNER.toLowerCase(), EVM_OWNER, '', 'x'.repeat(1000)])
      expectError(await shop.sponsor({ ...body, owner_identity }), 403, 'OWNER_IDENTITY_MISMATCH')
    expect(await shop.written()).toEqual(before)
    expect((await shop.sponsor(body)).body).toMatchObject({ idempotent: false })
    const other = { ...body, owner_identity: DEMO_PAYERS[1]!.address }
    expectError(await shop.sponsor(other), 403, 'OWNER_IDENTITY_MISMATCH')
  })

  it('SPON-07 ADD-13 a paid receipt without a locker gets one for its own transaction, and another stays unused', async () => {
    const { receipt_id, quote, tx } = await buy(sponsored.market, shop)
    const other = await sponsored.market.pay(quote.accepts[0]!)
    const body = { pay_req_id: payReqId(quote), tx_sig: tx, owner_identity: OWNER }
    const locker_id = lockerId(receipt_id)
    expect((await shop.written()).lockers).not.toContainEqual(expect.objectContaining({ locker_id }))
    const refused = await shop.sponsor({ ...body, tx_sig: other })
    expectError(refused, 402, 'payment_verification_failed', 'quote_already_paid')
    const { body: answer } = await shop.sponsor(body)
    expect(answer).toMatchObject({ idempotent: true, already_provisioned: false, receipt_id, receipt: { tx_hash: tx } })
    expect(answer).toMatchObject({ locker_id, locker: { locker_id, receipt_id, owner: OWNER, operators: [] } })
    const { payment_transactions, lockers } = await shop.written()
    expect(lockers).toContainEqual(expect.objectContaining({ locker_id, receipt_id, owner: OWNER }))
    expect(payment_transactions).not.toContainEqual(expect.objectContaining({ tx: other }))
  })

  it('SPON-10 LOCK-09 a repeated sponsored confirmation returns the same locker with its first tags', async () => {
    const { body } = await paidQuote({ units: 1 }, ['first'])
    const { body: first } = await shop.sponsor(body)
    sponsored.market.clock.advance(60)
    const { body: again } = await shop.sponsor({ ...body, tags: ['second'] })
    // The owner may have rotated the link since, so it is not compared.
    const { public_link: _, ...locker } = first.locker
    expect(again).toEqual({ ...first, locker, idempotent: true, already_provisioned: true })
  })
})

describe('the token of a sponsor', () => {
  const bodies = [{}, { pay_req_id: 'x', pay_req_ids: ['x'], tx_sig: 'x', owner_identity: 'x' }]

  it.each([
    ['no token', () => null],
    ['a token of another audience', () => `Bearer ${sponsored.issuer.token({ aud: 'elsewhere' })}`],
  ])('SPON-01 SPON-08 a sponsored confirmation with %s is a 401 before any other check', async (_, authorization) => {
    for (const body of bodies) {
      expectError(await shop.sponsor(body, authorization()), 401, 'OIDC_TOKEN_INVALID')
      expectError(await shop.sponsorBatch(body, authorization()), 401, 'OIDC_TOKEN_INVALID')
    }
  })

  it('SPON-01 a sponsored confirmation is a 401 with a hint where no identity provider is configured', async () => {
    const plain = await sponsored.market.open()
    const headers = { authorization: `Bearer ${sponsored.issuer.token()}` }
    for (const path of ['/v1/storage/sponsored-confirm', '/v1/storage/sponsored-confirm-batch']) {
      const reply = await plain.send('POST', path, {}, headers)
      expectError(reply, 401, 'OIDC_TOKEN_INVALID')
      expect(reply.body).toMatchObject({ hint: expect.stringContaining('SPONSOR_OIDC') })
    }
  })
})

describe('a sponsored confirmation that is refused', () => {
  it.each([
    ['no quote', { pay_req_id: undefined }, 422, 'validation_error'],
    ['33 tags', { tags: Array(33).fill('t') }, 422, 'validation_error'],
    ['a malformed transaction', { tx_sig: 'not-one' }, 402, 'tx_required'],
    ['an unknown quote', { pay_req_id: `pr_${'0'.repeat(32)}` }, 404, 'pay_req_not_found'],
    ['an unknown transaction', { tx_sig: '3'.repeat(88) }, 402, 'tx_not_found'],
  ] as const)('SPON-02 AMB-86 a sponsored confirmation with %s is refused', async (_, change, status, code) => {
    const body = { pay_req_id: payReqId(await shop.quote()), tx_sig: `0x${'ab'.repeat(32)}`, owner_identity: OWNER }
    expectError(await shop.sponsor({ ...body, ...change }), status, code)
  })
})

const batchOf = (pay_req_ids: readonly string[], tx_sig: string) => ({ pay_req_ids, tx_sig, owner_identity: OWNER })

describe('a sponsored batch', () => {
  it('SPON-05 SPON-06 a sponsored batch returns a receipt and locker for each position in the order of the request', async () => {
    const { ids, sum } = await quotes(shop, 3)
    const tx = await sponsored.market.pay(sum)
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

  it('SPON-08 T-01 a batch paid one atomic unit short is refused and writes nothing', async () => {
    const { ids, sum } = await quotes(shop, 3)
    const tx = await sponsored.market.pay(sum, { amount: BigInt(sum.amount) - 1n })
    const before = await shop.written()
    const refusal = [402, 'payment_verification_failed', 'amount_too_small'] as const
    expectError(await shop.sponsorBatch(batchOf(ids, tx)), ...refusal)
    expect(await shop.written()).toEqual(before)
    expect((await shop.sponsorBatch(batchOf(ids.slice(0, 2), tx))).body).toMatchObject({ ok: true })
    expectError(await shop.sponsorBatch(batchOf(ids, tx)), ...refusal)
  })

  it('SPON-02 SPON-08 a batch for an owner who is not the payer is a 403 and writes nothing', async () => {
    const { ids, sum } = await quotes(shop, 2)
    const tx = await sponsored.market.pay(sum)
    const other = { ...batchOf(ids, tx), owner_identity: DEMO_PAYERS[1]!.address }
    const before = await shop.written()
    expectError(await shop.sponsorBatch(other), 403, 'OWNER_IDENTITY_MISMATCH')
    expect(await shop.written()).toEqual(before)
    const { ids: theirs, sum: theirSum } = await quotes(shop, 1)
    const theirTx = await sponsored.market.pay(theirSum, { payer: 1 })
    expect((await shop.sponsorBatch({ ...other, pay_req_ids: theirs, tx_sig: theirTx })).status).toBe(200)
    const mixed = await shop.written()
    expectError(await shop.sponsorBatch(batchOf([...ids, ...theirs], tx)), 403, 'OWNER_IDENTITY_MISMATCH')
    expect(await shop.written()).toEqual(mixed)
  })

  it('AMB-06 a batch with an expired quote is a 410, unless it was paid in time', async () => {
    const old = await quotes(shop, 1)
    sponsored.market.clock.advance(200)
    const young = await quotes(shop, 1)
    const ids = [...young.ids, ...old.ids]
    const sum = { ...old.sum, amount: String(BigInt(old.sum.amount) * 2n) }
    const inTime = await sponsored.market.pay(sum)
    sponsored.market.clock.advance(101)
    const late = await sponsored.market.pay(sum)
    expectError(await shop.sponsorBatch(batchOf(ids, late)), 410, 'quote_expired')
    expect((await shop.sponsorBatch(batchOf(ids, inTime))).body).toMatchObject({ ok: true })
  })
})

describe('a sponsored batch that is refused', () => {
  it.each([
    ['no quotes', []],
    ['101 quotes', Array.from({ length: 101 }, (_, i) => `pr_${i}`)],
    ['a quote twice', ['pr_1', 'pr_2', 'pr_1']],
  ])('SPON-04 SPON-08 a batch with %s is a 422', async (_, pay_req_ids) => {
    const body = { pay_req_ids, tx_sig: `0x${'ab'.repeat(32)}`, owner_identity: OWNER }
    const reply = await shop.sponsorBatch(body)
    expectError(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: expect.arrayContaining(['body', 'pay_req_ids']) }] })
  })

  it('SPON-04 a batch with unknown quotes is a 404 that names them', async () => {
    const { ids, sum } = await quotes(shop, 1)
    const unknown = `pr_${'0'.repeat(32)}`
    const reply = await shop.sponsorBatch(batchOf([unknown, ...ids], await sponsored.market.pay(sum)))
    expectError(reply, 404, 'pay_req_not_found')
    expect(reply.body).toMatchObject({ details: { pay_req_ids: [unknown] } })
  })

  it('SPON-09 SPON-08 a batch with quotes of two networks is a 400, whichever network was paid', async () => {
    const primary = await shop.quote({ units: 1, pay_network: 'primary-mainnet' })
    const evm = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
    const both = await shop.quote()
    const onPrimary = await sponsored.market.pay(legOf(primary, 'USDC'), { amount: 10_000_000n, memo: null })
    const onEvm = await sponsored.market.pay(legOf(evm, 'USDC', 'evm-mainnet'), { amount: 10_000_000n, memo: null })
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
