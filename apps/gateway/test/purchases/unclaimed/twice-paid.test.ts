import type { Quote } from '@svc/api/purchases'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { forAllTests } from '@svc/devnet/for-tests'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { expectError, legOf, payReqId } from '@svc/devnet/services/market'
import type { Reply } from '@svc/devnet/services/test-gateway'
import { afterEach, describe, expect, it } from 'vitest'
import { challengesOf, expectProblem, payableWith, payChallenge, send, shown } from '../protocols/mpp/mpp-testbed.ts'
import { EVM_OWNER, OWNER, openSponsoredMarket, quotes } from '../protocols/sponsored/sponsored-market.ts'
import { ADMIN, expectReturned, listUnclaimed, unclaimedOf } from './unclaimed.ts'

const sponsored = forAllTests(() => openSponsoredMarket())
const shop = forAllTests(() =>
  sponsored.open({ ...ADMIN, MAX_LOCKERS_PER_OWNER: '1000', RATE_LIMITS: 'address=10000/min' }),
)
const chains = () => sponsored.market.chains
afterEach(() => {
  chains().primary.chain.resume()
  chains().evm.chain.resume()
})

const EVM_USDC = TOKENS.USDC.address

const CHAINS = [
  ['primary', 'USDC', OWNER],
  ['primary', 'SOL', OWNER],
  ['evm', 'USDC', EVM_OWNER],
  ['evm', 'MON', EVM_OWNER],
] as const

/** Expects a refusal that reports the second payment as recorded for refund and reveals nothing about the first. */
function expectRecorded(reply: Reply<unknown>, secrets: readonly string[]) {
  expectError(reply, 402, 'payment_verification_failed', 'quote_already_paid')
  const { hint, details } = reply.body as { hint: string; details: object }
  expect([details, hint]).toEqual([
    expect.objectContaining({ noted_for_refund: true }),
    expect.stringMatching(
      /do not pay again; this payment is recorded for refund: ask the service's admin .* name this transaction/,
    ),
  ])
  for (const secret of secrets) expect(JSON.stringify(reply.body)).not.toContain(secret)
}

describe.each(CHAINS)('on the %s chain in %s', (chain, pay_asset, owner_identity) => {
  const pay_network = `${chain}-mainnet`
  const confirm = (quote: Quote, tx: string) =>
    shop.confirm({ pay_req_id: payReqId(quote), pay_network, pay_asset }, tx)

  /** Pays twice, from two wallets, before either payment lands. Then both land in one block that is not final. */
  async function payTwice(quote: Quote, options: { memo?: null } = {}): Promise<[late: string, again: string]> {
    const leg = legOf(quote, pay_asset, pay_network)
    chains()[chain].chain.hold()
    const late = await sponsored.market.pay(leg, options)
    expectError(await confirm(quote, late), 402, 'tx_not_found')
    const again = await sponsored.market.pay(leg, { ...options, payer: 1 })
    if (chain === 'evm') await connectAs(DEV_PAYERS[0]!, chains().evm.url).mine({ blocks: 1 })
    else sponsored.market.clock.advance(0.8)
    return [late, again]
  }

  it('T-205 T-45 a payment that lands after its buyer has paid again is recorded for refund once, even if a fork moves it', async () => {
    const quote = await shop.quote()
    const [late, paidBy] = await payTwice(quote)
    const { status, body } = await confirm(quote, paidBy)
    expect([status, body.idempotent]).toEqual([200, false])
    const secrets = [body.receipt_id, paidBy, body.receipt.payer_pubkey]
    await chains()[chain].chain.fork()
    const unseen = await confirm(quote, late)
    expectError(unseen, 402, 'payment_verification_failed', 'quote_already_paid')
    expect(unseen.body).toMatchObject({ hint: expect.stringContaining('confirm it again once the chain shows it') })
    expect(await unclaimedOf(shop, payReqId(quote))).toEqual([])
    await chains().settle()
    for (let times = 0; times < 2; times++) expectRecorded(await confirm(quote, late), secrets)
    expect((await confirm(quote, paidBy)).body).toMatchObject({ idempotent: true, receipt_id: body.receipt_id })
    await expectReturned(shop, { payReqId: payReqId(quote), paidBy, second: late })
  })

  it('T-205 SPON-10 a sponsor who pays twice gets one receipt, and the second payment is recorded for refund', async () => {
    const quote = await shop.quote()
    const [paidBy, late] = await payTwice(quote)
    const pay_req_id = payReqId(quote)
    const single = (tx_sig: string) => shop.sponsor({ pay_req_id, tx_sig, owner_identity })
    expect((await single(paidBy)).body).toMatchObject({ idempotent: false })
    expectRecorded(await single(late), [paidBy])
    await expectReturned(shop, { payReqId: pay_req_id, paidBy, second: late })
  })

  it('T-205 two payments of one quote that are confirmed concurrently result in one receipt and one refund', async () => {
    const quote = await shop.quote()
    const sent = await payTwice(quote, { memo: null })
    const replies = await Promise.all([...sent, ...sent].map((tx) => confirm(quote, tx)))
    const paid = replies.filter(({ status }) => status === 200).map(({ body }) => body.receipt.tx_hash)
    expect(paid).toHaveLength(2)
    const [paidBy] = paid as [string]
    const second = sent.find((tx) => tx !== paidBy)!
    await expectReturned(shop, { payReqId: payReqId(quote), paidBy, second })
  })
})

it.each(['sol', EVM_USDC])(
  'T-205 a second payment shown by a credential (%s) is recorded for refund, and the refusal has no new challenge',
  async (currency) => {
    const challenge = payableWith(await challengesOf(shop), currency)
    const [paidBy, late] = [
      await payChallenge(chains(), challenge),
      await payChallenge(chains(), challenge, { payer: 2 }),
    ]
    const { body } = await send(shop, shown(challenge, paidBy))
    expect(body.receipt.tx_hash).toBe(paidBy)
    const refused = await send(shop, shown(challenge, late))
    expectProblem(refused, 'verification-failed', 'payment_verification_failed')
    expect(refused.headers.get('www-authenticate')).toBeNull()
    expect(refused.body).toMatchObject({ details: { reason: 'quote_already_paid', noted_for_refund: true } })
    await expectReturned(shop, { payReqId: body.receipt.pay_req_id, paidBy, second: late })
  },
)

describe('a payment that lands after its quote has ended', () => {
  it('T-205 AMB-06 is recorded for refund after a fork of the primary chain, with a hint to its payer', async () => {
    const { primary } = chains()
    const quote = await shop.quote()
    sponsored.market.clock.advance(290)
    primary.chain.hold()
    const tx = await sponsored.market.pay(quote.accepts[0]!)
    sponsored.market.clock.advance(0.4)
    expect((await call(primary.url, 'getSignatureStatuses', [[tx]])).result).toMatchObject({ value: [{ err: null }] })
    const { wire } = primary.chain.transaction(tx)!
    await primary.chain.fork({ drop: [tx] })
    sponsored.market.clock.advance(15)
    expectError(await shop.confirm({ pay_req_id: payReqId(quote) }, tx), 410, 'quote_expired')
    await call(primary.url, 'sendTransaction', [wire, { encoding: 'base64', preflightCommitment: 'confirmed' }])
    primary.chain.resume()
    primary.chain.settle()
    await expectLate(quote, tx)
  })

  it('T-205 AMB-06 is recorded for refund after waiting in the pool of the EVM chain, with a hint to its payer', async () => {
    const client = connectAs(DEV_PAYERS[0]!, chains().evm.url)
    const quote = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
    sponsored.market.clock.advance(290)
    chains().evm.chain.hold()
    const tx = await sponsored.market.pay(quote.accepts[0]!)
    sponsored.market.clock.advance(15)
    await client.mine({ blocks: 1 })
    chains().evm.chain.resume()
    await expectLate(quote, tx)
  })

  async function expectLate(quote: Quote, tx: string) {
    const { status, body } = (await shop.confirm({ pay_req_id: payReqId(quote) }, tx)) as Reply<unknown>
    expect([status, body]).toMatchObject([
      410,
      {
        error: 'quote_expired',
        hint: expect.stringMatching(/do not pay this quote again; .* recorded for refund: ask the service's admin/),
        details: { reason: 'after_quote', noted_for_refund: true },
      },
    ])
    await expectReturned(shop, { payReqId: payReqId(quote), paidBy: null, second: tx, reason: 'after_quote' })
  }
})

describe('a batch that is paid twice', () => {
  const batch = (pay_req_ids: readonly string[], tx_sig: string) =>
    shop.sponsorBatch({ pay_req_ids, tx_sig, owner_identity: OWNER })

  it('T-205 SPON-10 is recorded for refund in full when another payment has paid all of its quotes', async () => {
    const { ids, sum } = await quotes(shop, 2)
    const [paidBy, late] = [
      await sponsored.market.pay(sum, { memo: null }),
      await sponsored.market.pay(sum, { memo: null }),
    ]
    expect((await batch(ids, paidBy)).body.ok).toBe(true)
    expectRecorded(await batch(ids, late), [paidBy])
    await expectReturned(shop, { payReqId: ids[0]!, paidBy, second: late })
  })

  it('T-205 SPON-10 names the quotes already paid, pays the others, and records the rest for refund', async () => {
    const { ids, sum, all } = await quotes(shop, 3)
    const own = await sponsored.market.pay(legOf(all[0]!, 'USDC'))
    const tx = await sponsored.market.pay(sum, { memo: null })
    expect((await shop.sponsor({ pay_req_id: ids[0], tx_sig: own, owner_identity: OWNER })).status).toBe(200)
    const refused = await batch(ids, tx)
    expectError(refused, 402, 'payment_verification_failed', 'quote_already_paid')
    expect(refused.body).toMatchObject({
      hint: expect.stringContaining('confirm the others'),
      details: { pay_req_ids: [ids[0]] },
    })
    expect((await batch(ids.slice(1), tx)).body.ok).toBe(true)
    const [rest] = await unclaimedOf(shop, ids[1]!).then((some) =>
      some.length > 0 ? some : unclaimedOf(shop, ids[2]!),
    )
    const each = BigInt(legOf(all[0]!, 'USDC').amount)
    expect(rest).toMatchObject({ tx, reason: 'overpaid', left_raw: String(each), claimed_raw: String(each * 2n) })
  })
})

describe('a payment recorded for refund', () => {
  it('T-205 is the rest of an overpayment that exceeds rounding', async () => {
    const [much, little] = [await shop.quote(), await shop.quote()]
    const leg = legOf(much, 'USDC')
    const confirm = (quote: Quote, tx: string) =>
      shop.confirm({ pay_req_id: payReqId(quote), pay_network: 'primary-mainnet', pay_asset: 'USDC' }, tx)
    const amount = BigInt(leg.amount)
    expect((await confirm(much, await sponsored.market.pay(leg, { amount: amount * 2n }))).status).toBe(200)
    const rounded = { amount: amount + 1n }
    expect((await confirm(little, await sponsored.market.pay(legOf(little, 'USDC'), rounded))).status).toBe(200)
    expect(await unclaimedOf(shop, payReqId(much))).toMatchObject([{ reason: 'overpaid', left_raw: leg.amount }])
    expect(await unclaimedOf(shop, payReqId(little))).toEqual([])
  })

  it('T-205 is an underpayment that names its quote, up to twenty per quote, but no invented transaction', async () => {
    const [quote, other] = [await shop.quote(), await shop.quote()]
    const leg = legOf(quote, 'SOL')
    const before = await listUnclaimed(shop, '?state=all')
    const paid = await sponsored.market.pay(leg)
    await shop.confirm({ pay_req_id: payReqId(quote) }, paid)
    // Another quote's payment, too small a payment that names no quote, and transactions on no chain.
    const invalid = [
      await sponsored.market.pay(legOf(other, 'SOL')),
      await sponsored.market.pay(leg, { amount: 1n, memo: null }),
      '5'.repeat(87),
      '1'.repeat(64),
      `0x${'12'.repeat(32)}`,
    ]
    for (const tx of invalid)
      expectError(
        await shop.confirm({ pay_req_id: payReqId(quote) }, tx),
        402,
        'payment_verification_failed',
        'quote_already_paid',
      )
    expect(await listUnclaimed(shop, '?state=all')).toEqual(before)
    for (let i = 0; i < 22; i++) {
      const tx = await sponsored.market.pay(legOf(other, 'SOL'), { amount: BigInt(i + 1) })
      const { body } = await shop.confirm({ pay_req_id: payReqId(other) }, tx)
      expect(body).toMatchObject({ details: i < 20 ? { noted_for_refund: true } : { reason: 'amount_too_small' } })
    }
    expect(await unclaimedOf(shop, payReqId(other))).toHaveLength(20)
  })

  it('T-205 PAY-57 leaves the list once it pays another quote', async () => {
    const [quote, next] = [await shop.quote({ units: 4 }), await shop.quote({ units: 4 })]
    await shop.confirm({ pay_req_id: payReqId(quote) }, await sponsored.market.pay(quote.accepts[0]!))
    const second = await sponsored.market.pay(quote.accepts[0]!, { memo: null, payer: 2 })
    expectRecorded(await shop.confirm({ pay_req_id: payReqId(quote) }, second), [])
    expect(await unclaimedOf(shop, payReqId(quote))).toMatchObject([{ tx: second }])
    expect((await shop.confirm({ pay_req_id: payReqId(next) }, second)).status).toBe(200)
    expect(await unclaimedOf(shop, payReqId(quote))).toEqual([])
    const all = await listUnclaimed(shop, '?state=all&limit=500')
    expect(all.find(({ tx }) => tx === second)).toMatchObject({ state: 'claimed', left_raw: '0' })
    expectError(
      await shop.confirm({ pay_req_id: payReqId(quote) }, second),
      402,
      'payment_verification_failed',
      'quote_already_paid',
    )
  })
})
