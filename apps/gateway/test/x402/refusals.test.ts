import type { X402Quote } from '@svc/api/x402'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { MINTS, PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { startTestGateway } from '@svc/testbed/gateway'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectError, legOf, shopOf } from '../purchases/market.ts'
import {
  asRequirements,
  encoded,
  expectRefused,
  FAMILIES,
  legOn,
  newWallet,
  PRICE,
  pay,
  post,
  responseIn,
  signedFor,
  signFor,
  startX402Testbed,
  treasuries,
  walletOn,
  type X402Testbed,
} from './x402-testbed.ts'

let testbed: X402Testbed
let before: bigint[]
beforeAll(async () => {
  testbed = await startX402Testbed()
})
afterAll(() => testbed.stop())
beforeEach(async () => {
  before = await treasuries(testbed.chains)
})
// A refused payment moves nothing.
afterEach(async () => expect(await treasuries(testbed.chains)).toEqual(before))

describe('an unreadable PAYMENT-SIGNATURE', () => {
  const encodedJson = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
  const accepted = { scheme: 'exact', network: 'eip155:143', amount: '1', asset: 'x', payTo: 'x' }
  const extra = { pay_req_id: `pr_${'0'.repeat(32)}` }
  const payload = { transaction: 'AAAA' }
  it.each([
    ['empty', ''],
    ['not base64', '{"x402Version":2}'],
    [
      'base64url',
      Buffer.from('{"a":"???>>>"}')
        .toString('base64url')
        .replace(/[A-Za-z]$/, '_'),
    ],
    ['not JSON', Buffer.from('hello').toString('base64')],
    ['not UTF-8', Buffer.from([0xff, 0xfe]).toString('base64')],
    ['a list', encodedJson([])],
    ['null', encodedJson(null)],
    ['version 1', encodedJson({ x402Version: 1, scheme: 'exact', network: 'solana', payload })],
    ['without a leg', encodedJson({ x402Version: 2, payload })],
    ['without a quote', encodedJson({ x402Version: 2, accepted: { ...accepted, extra: {} }, payload })],
    [
      'with a quote of another form',
      encodedJson({ x402Version: 2, accepted: { ...accepted, extra: { pay_req_id: "pr_' or 1=1" } }, payload }),
    ],
    ['without a payload', encodedJson({ x402Version: 2, accepted: { ...accepted, extra } })],
    ['with an empty payload', encodedJson({ x402Version: 2, accepted: { ...accepted, extra }, payload: {} })],
    ['deeply nested', Buffer.from('['.repeat(2000)).toString('base64')],
    ['with a key twice', Buffer.from('{"x402Version":2,"x402Version":2}').toString('base64')],
    ['too long', 'A'.repeat(12_292)],
  ])('ADD-21 a PAYMENT-SIGNATURE is refused with 400 when it is %s', async (_name, header) => {
    const reply = await pay<{ message: string; hint: string }>(testbed.url, header)
    expectError(reply, 400, 'malformed_payment')
    expect(reply.body.message).toContain('PAYMENT-SIGNATURE')
    expect(reply.body.hint).toContain('version 2')
  })

  it('ADD-21 a payment of x402 version 1 is told that only version 2 is spoken, by either header', async () => {
    const payment = encodedJson({ x402Version: 1, scheme: 'exact', network: 'solana', payload })
    for (const name of ['x-payment', 'payment-signature']) {
      const reply = await post<{ message: string }>(testbed.url, {}, { [name]: payment })
      expectError(reply, 400, 'malformed_payment')
      expect(reply.body.message).toMatch(/version 1, and only version 2 is spoken/)
    }
  })

  it('ADD-21 a PAYMENT-SIGNATURE with a payload of the other chain is refused with 400', async () => {
    const { payload } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
    const quote = await post<X402Quote>(testbed.url, { units: 1 })
    const mixed = { ...payload, accepted: asRequirements(legOn('primary', quote.body)) }
    expectError(await pay(testbed.url, encoded(mixed)), 400, 'malformed_payment')
  })
})

describe.each(FAMILIES)('on the %s chain', (family) => {
  it.each([
    ['amount', '1'],
    ['asset', family === 'evm' ? TOKENS.USDT0.address : MINTS.BETA.mint],
    ['payTo', family === 'evm' ? DEV_PAYERS[1]!.address : PUBLICATION.address],
    ['network', family === 'evm' ? 'eip155:1' : 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
    ['scheme', 'upto'],
  ])('ADD-21 a leg with another %s is not in the quote', async (field, value) => {
    const { payload } = await signFor(await walletOn(family, testbed.chains), testbed.url)
    const changed = { ...payload, accepted: { ...payload.accepted, [field]: value } }
    expectRefused(await pay(testbed.url, encoded(changed)), 'leg_not_in_quote')
  })

  it.each([
    ['less', { amount: '249999' }],
    ['more', { amount: '250001' }],
    ['another asset', { asset: family === 'evm' ? TOKENS.USDT0.address : MINTS.USDT.mint }],
    ['another receiver', { payTo: family === 'evm' ? DEV_PAYERS[1]!.address : PUBLICATION.address }],
  ])('PAY-52 a payment signed for %s pays nothing', async (_name, changes) => {
    const reply = await pay(testbed.url, await signedFor(family, testbed, (leg) => ({ ...leg, ...changes })))
    expectRefused(reply)
    expect(responseIn(reply.headers)).toMatchObject({ success: false, transaction: '' })
  })

  it('PAY-55 a payment signed for one quote does not pay another', async () => {
    const { payload } = await signFor(await walletOn(family, testbed.chains), testbed.url)
    const other = await post<X402Quote>(testbed.url, { units: 1 })
    const accepted = asRequirements(legOn(family, other.body))
    const first = await pay(testbed.url, encoded(payload))
    expect(first.status).toBe(200)
    before = await treasuries(testbed.chains)
    const reply = await pay(testbed.url, encoded({ ...payload, accepted }))
    expectRefused(reply, 'transaction_already_used')
  })

  it('ADD-21 a wallet that holds too little is told how much of which asset is missing', async () => {
    const client = await walletOn(family, testbed.chains)
    const units = 1_000_000
    client.setSpendControls(false)
    const { text, payload } = await signFor(client, testbed.url, { units, provider: 'arweave' })
    const reply = await pay<{ message: string; hint: string; details: object }>(testbed.url, text, { units })
    expectRefused(reply, 'insufficient_funds')
    const { asset, amount: required } = payload.accepted
    expect(reply.body.details).toMatchObject({ asset, required, pay_asset: 'USDC', has_token_account: true })
    expect(reply.body.message).toMatch(/has \d[\d.]* USDC on (primary|evm)-mainnet, and the quote asks for \d+/)
    expect(reply.body.hint).toMatch(/^send \d[\d.]* USDC/)
  })

  it('ADD-21 a wallet that is empty is told so, and its signature pays once it is funded', async () => {
    const { client, address } = await newWallet(family, testbed.chains)
    const { text } = await signFor(client, testbed.url)
    const reply = await pay<{ message: string; details: object }>(testbed.url, text)
    const offer = expectRefused(reply, 'insufficient_funds')
    const details = { available: '0', required: String(PRICE), has_token_account: family === 'evm', payer: address }
    expect(reply.body.details).toMatchObject(details)
    if (family === 'primary') expect(reply.body.message).toContain('has no token account for USDC')
    await call(testbed.chains[family].url, 'dev_faucet', [address, 'USDC', '1'])
    const paid = await pay(testbed.url, text)
    expect(paid.status, JSON.stringify(paid.body)).toBe(200)
    expect(offer.accepts[0]?.extra.pay_req_id, 'the same quote is offered again').toBe(paid.body.receipt.pay_req_id)
    before = await treasuries(testbed.chains)
  })

  it('ADD-21 a refused payment comes with an offer that a stock client can sign and pay', async () => {
    const text = await signedFor(family, testbed, (leg) => ({ ...leg, amount: '1' }))
    const offer = expectRefused(await pay(testbed.url, text))
    const client = await walletOn(family, testbed.chains)
    const paid = await pay(testbed.url, encoded(await client.createPaymentPayload(offer)))
    expect(paid.status, JSON.stringify(paid.body)).toBe(200)
    before = await treasuries(testbed.chains)
  })

  it('a body that orders something else than the quote is 422', async () => {
    const { text } = await signFor(await walletOn(family, testbed.chains), testbed.url)
    expectError(await pay(testbed.url, text, { units: 2 }), 422, 'validation_error')
    expectError(await pay(testbed.url, text, { units: 1, provider: 'storj' }), 422, 'validation_error')
  })

  it('PAY-44 an expired quote is 410', async () => {
    let late = 0
    const gateway = await startTestGateway(testbed.chains.variables, { now: () => Date.now() + late })
    const { text } = await signFor(await walletOn(family, testbed.chains), gateway.url)
    late = 301_000
    expectError(await pay(gateway.url, text), 410, 'quote_expired')
    await gateway.stop()
  })
})

describe('quotes', () => {
  it('PAY-43 a quote that does not exist is 404', async () => {
    const { payload } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
    const extra = { ...payload.accepted.extra, pay_req_id: `pr_${'0'.repeat(32)}` }
    const text = encoded({ ...payload, accepted: { ...payload.accepted, extra } })
    expectError(await pay(testbed.url, text), 404, 'pay_req_not_found')
  })

  it('a quote of the other endpoint has no leg that can be signed for on the primary chain', async () => {
    const { payload } = await signFor(await walletOn('primary', testbed.chains), testbed.url)
    const plain = await shopOf(testbed.gateway).quote()
    const accepted = asRequirements(legOf(plain, 'USDC'))
    expectRefused(await pay(testbed.url, encoded({ ...payload, accepted })), 'leg_not_signable')
  })

  it('ADD-21 units are 1 by default, also without any body', async () => {
    const url = `${testbed.url}/v1/x402/storage`
    for (const init of [{}, { body: '' }, { body: '{}', headers: { 'content-type': 'application/json' } }]) {
      const response = await fetch(url, { method: 'POST', ...init })
      expect(response.status).toBe(402)
      const { extensions } = (await response.json()) as X402Quote
      expect(extensions.svc.price_summary).toMatchObject({ units: 1 })
    }
  })

  it('PAY-02 a quote needs a number of units', async () => {
    expectError(await post(testbed.url, { units: 0 }), 422, 'validation_error')
    expectError(await post(testbed.url, { units: 1, tags: [1] }), 422, 'validation_error')
  })

  it('PAY-07 quotes of both endpoints do not share an Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'of-the-other-endpoint' }
    await shopOf(testbed.gateway).quote({ units: 1 }, key)
    expectError(await post(testbed.url, { units: 1 }, key), 409, 'idempotency_conflict')
  })

  it('PAY-07 the same key with another body is a 409, also in a field that the gateway does not know', async () => {
    const key = { 'idempotency-key': 'of-one-body' }
    expect((await post(testbed.url, { units: 1, note: 'a' }, key)).status).toBe(402)
    expect((await post(testbed.url, { note: 'a', units: 1 }, key)).status).toBe(402)
    for (const other of [{ units: 1 }, { units: 1, note: 'b' }])
      expectError(await post(testbed.url, other, key), 409, 'idempotency_conflict')
  })
})

describe('a renewal', () => {
  it('ADD-17 ADD-21 is not sold here: its quote does not point here, and nothing is offered instead of it', async () => {
    const bought = await pay(testbed.url, (await signFor(await walletOn('evm', testbed.chains), testbed.url)).text)
    before = await treasuries(testbed.chains)
    const order = { units: 1, extends: bought.body.receipt_id }
    const shop = shopOf(testbed.gateway)
    const quote = await shop.quote(order)
    expect(quote.extensions.svc.info).not.toHaveProperty('x402_url')
    expect(JSON.stringify(quote)).not.toContain('/v1/x402/storage')
    const leg = legOf(quote, 'USDC', 'evm-mainnet')
    const accepts = [asRequirements({ ...leg, extra: { ...leg.extra, version: '2' } })]
    const client = await walletOn('evm', testbed.chains)
    const signed = await client.createPaymentPayload({ ...quote, accepts })
    const text = encoded({ ...signed, accepted: asRequirements(leg) })
    const plain = await shop.post<{ hint: string; details?: object }>('/v1/storage/request', order, {
      'payment-signature': text,
    })
    expectError(plain, 400, 'signed_payment_not_taken')
    expect(plain.body.hint).toMatch(/renewal.*POST \/v1\/storage\/confirm/)
    expect(plain.body.details).toBeUndefined()
    for (const headers of [{}, { 'payment-signature': text }])
      for (const named of [bought.body.receipt_id, 'anything', null]) {
        const reply = await post<{ message: string }>(testbed.url, { ...order, extends: named }, headers)
        expectError(reply, 422, 'validation_error')
        expect(reply.body.message).toContain('POST /v1/storage/request')
      }
    expectError(await pay(testbed.url, text), 402, 'payment_verification_failed')
  })
})
