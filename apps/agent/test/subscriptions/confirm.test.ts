import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { isReceiptSignedBy } from '@svc/protocol/receipt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agency, ed25519Person, evmPayer, openAgency, primaryPayer } from '../agent-stack.ts'
import { booked, expectError, legOf, pay, payReqId, type Till, tillOf } from '../subscription-api.ts'

let agency: Agency
let till: Till
beforeAll(async () => {
  agency = await openAgency()
  till = tillOf(agency.agent)
})
afterAll(() => agency.close())

const DAY = 86_400
const seconds = (time: string) => Date.parse(time) / 1000
const unixNow = () => agency.clock.now() / 1000

describe('AGENT-01 AGENT-03 SHAPE-43 a payment', () => {
  it.each([
    ['SOL', 'primary-mainnet', primaryPayer(0)],
    ['USDC', 'primary-mainnet', primaryPayer(1)],
    ['BETA', 'primary-mainnet', primaryPayer(2)],
    ['MON', 'evm-mainnet', evmPayer(0)],
    ['USDC', 'evm-mainnet', evmPayer(1)],
    ['WETH', 'evm-mainnet', evmPayer(2)],
  ])('of %s on %s buys its payer thirty days', async (ticker, network, payer) => {
    const quote = await till.quote()
    const leg = legOf(quote, ticker, network)
    const tx = await pay(agency, leg, payer)
    const { status, headers, body } = await till.show({ quote, tx, identity: payer.identity, leg })
    expect([status, headers.get('cache-control')], JSON.stringify(body)).toEqual([200, 'no-store'])
    expect(body).toEqual({
      ok: true,
      idempotent: false,
      receipt_id: expect.stringMatching(/^rcpt_[0-9a-f]{32}$/),
      receipt: expect.objectContaining({
        receipt_id: body.receipt_id,
        pay_req_id: payReqId(quote),
        tx_hash: tx,
        payer_pubkey: payer.identity,
        pay_asset: ticker,
        network,
        paid_raw: leg.amount,
        units: 1,
      }),
      subscription: {
        subscription_id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
        identity: payer.identity,
        status: 'active',
        starts_at: '2026-09-01T12:00:00Z',
        expires_at: '2026-10-01T12:00:00Z',
      },
    })
  })

  it('is receipted under the key that the index shows', async () => {
    const payer = primaryPayer(3)
    const { receipt } = await agency.subscribe(payer)
    const { body: index } = await agency.send<{ signing_key: { public_key_hex: string } }>(
      'GET',
      '/.well-known/svc-agent.json',
    )
    const key = ed25519PublicKeyFromHex(index.signing_key.public_key_hex)!
    expect(isReceiptSignedBy(key, receipt)).toBe(true)
    expect(isReceiptSignedBy(key, { ...receipt, units: 2 })).toBe(false)
  })

  it('without a memo, by the first leg, with the transaction in the body and the address in any case, counts as well', async () => {
    const payer = evmPayer(3)
    const quote = await till.quote({ pay_network: 'evm-mainnet' })
    const tx = await pay(agency, quote.accepts[0]!, payer, { memo: null })
    const identity = `0x${payer.identity.slice(2).toUpperCase()}`
    const body = { pay_req_id: payReqId(quote), tx_sig: tx.toUpperCase().replace('0X', '0x') }
    const reply = await till.post(body, { 'x-svc-identity': identity })
    expect(reply.body).toMatchObject({ ok: true, subscription: { identity: payer.identity } })
  })
})

describe('AGENT-03 T-02 an identity that did not pay', () => {
  it.each([
    ['of somebody else', () => ed25519Person().identity],
    ['of the other chain', () => evmPayer(0).identity],
    ['of the treasury', () => String(agency.chains.agentVariables.PRIMARY_TREASURY)],
  ])('%s is a 403, claims nothing, and keeps the payer from nothing', async (_, identity) => {
    const before = await booked(agency)
    const payer = primaryPayer(0)
    const quote = await till.quote()
    const showing = { quote, tx: await pay(agency, quote.accepts[0]!, payer) }
    expectError(await till.show({ ...showing, identity: identity() }), 403, 'OWNER_IDENTITY_MISMATCH')
    expect(await booked(agency)).toEqual(before)
    const { status, body } = await till.show({ ...showing, identity: payer.identity })
    expect([status, body.idempotent]).toEqual([200, false])
  })
})

it('T-02 a stranger who shows a payment without a memo for a quote of his own buys the payer his days, and himself nothing', async () => {
  const payer = evmPayer(1)
  const [quote, strangers] = [await till.quote(), await till.quote()]
  const leg = legOf(quote, 'USDC', 'evm-mainnet')
  const tx = await pay(agency, leg, payer, { memo: null })
  const { body } = await till.show({ quote: strangers, tx, identity: payer.identity, leg })
  expect(body.subscription).toMatchObject({ identity: payer.identity, status: 'active' })
  const own = await till.show({ quote, tx, identity: payer.identity, leg })
  expectError(own, 402, 'payment_verification_failed', 'transaction_already_used')
})

describe('AGENT-03 PAY-51 a repeated confirmation', () => {
  it('answers the same, with any transaction, and prolongs nothing', async () => {
    const payer = primaryPayer(1)
    const quote = await till.quote()
    const tx = await pay(agency, quote.accepts[0]!, payer)
    const { body: first } = await till.show({ quote, tx, identity: payer.identity })
    const before = await booked(agency)
    for (const other of [tx, await pay(agency, quote.accepts[0]!, payer)]) {
      const { status, body } = await till.show({ quote, tx: other, identity: payer.identity })
      expect([status, body]).toEqual([200, { ...first, idempotent: true }])
    }
    expect(await booked(agency)).toEqual(before)
  })

  it('by another identity is a 403 that tells nothing of the receipt', async () => {
    const payer = primaryPayer(2)
    const quote = await till.quote()
    const tx = await pay(agency, quote.accepts[0]!, payer)
    const { body: bought } = await till.show({ quote, tx, identity: payer.identity })
    const reply = await till.show({ quote, tx, identity: ed25519Person().identity })
    expectError(reply, 403, 'OWNER_IDENTITY_MISMATCH')
    for (const secret of [bought.receipt_id, payer.identity, bought.subscription.subscription_id])
      expect(JSON.stringify(reply.body)).not.toContain(secret)
  })

  it('long after says what the payment bought, and that this is over', async () => {
    const payer = evmPayer(2)
    const quote = await till.quote({ pay_network: 'evm-mainnet' })
    const showing = { quote, tx: await pay(agency, quote.accepts[0]!, payer), identity: payer.identity }
    const { body: first } = await till.show(showing)
    agency.clock.advance(400 * DAY)
    const { body: later } = await till.show(showing)
    expect(later).toEqual({
      ...first,
      idempotent: true,
      subscription: { ...first.subscription, status: 'expired' },
    })
    expectError(await till.show({ ...showing, identity: evmPayer(0).identity }), 403, 'OWNER_IDENTITY_MISMATCH')
  })
})

describe('SHAPE-43 a second purchase', () => {
  it('while the first runs adds thirty days to its end', async () => {
    const payer = primaryPayer(0)
    const { subscription: first } = await agency.subscribe(payer)
    agency.clock.advance(10 * DAY)
    const { subscription: second } = await agency.subscribe(payer)
    expect(second.starts_at).toBe(first.starts_at)
    expect(seconds(second.expires_at)).toBe(seconds(first.expires_at) + 30 * DAY)
    expect(second.subscription_id).toBe(first.subscription_id)
  })

  it('after a lapse begins when it is confirmed', async () => {
    const payer = primaryPayer(1)
    const { subscription: first } = await agency.subscribe(payer)
    agency.clock.advance(45 * DAY)
    const { subscription: second } = await agency.subscribe(payer)
    expect(seconds(second.starts_at)).toBe(unixNow())
    expect(seconds(second.expires_at)).toBe(unixNow() + 30 * DAY)
    expect(second.subscription_id).toBe(first.subscription_id)
  })
})
