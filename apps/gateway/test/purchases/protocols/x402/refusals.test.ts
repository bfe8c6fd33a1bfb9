import type { X402Leg, X402Quote } from '@svc/api/x402'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { MINTS, PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { expectError, legOf } from '@svc/devnet/services/market'
import { testGatewayOf } from '@svc/devnet/services/test-gateway'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
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
} from './x402-testbed.ts'

const testbed = forAllTests(() => startX402Testbed())
let before: bigint[]
beforeEach(async () => {
  before = await treasuries(testbed.chains)
})
// A refused payment moves no funds.
afterEach(async () => expect(await treasuries(testbed.chains)).toEqual(before))

describe('an unreadable PAYMENT-SIGNATURE', () => {
  const encodedJson = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
  const accepted = { scheme: 'exact', network: 'eip155:143', amount: '1', asset: 'x', payTo: 'x' }
  const extra = { pay_req_id: `pr_${'0'.repeat(32)}` }
  const payload = { transaction: 'AAAA' }
  it.each([
    ['empty', ''],
    ['not JSON', Buffer.from('hello').toString('base64')],
    ['null', encodedJson(null)],
    ['without a quote', encodedJson({ x402Version: 2, accepted: { ...accepted, extra: {} }, payload })],
    ['with an empty payload', encodedJson({ x402Version: 2, accepted: { ...accepted, extra }, payload: {} })],
    ['deeply nested', Buffer.from('['.repeat(2000)).toString('base64')],
    ['with a key twice', Buffer.from('{"x402Version":2,"x402Version":2}').toString('base64')],
  ])('ADD-21 a PAYMENT-SIGNATURE is refused with 400 when it is %s', async (_name, header) => {
    const reply = await pay<{ message: string; hint: string }>(testbed.url, header)
    expectError(reply, 400, 'malformed_payment')
    expect(reply.body.message).toContain('PAYMENT-SIGNATURE')
    expect(reply.body.hint).toContain('version 2')
  })

  it('ADD-21 a payment of x402 version 1 learns in either header that only version 2 is supported', async () => {
    const payment = encodedJson({ x402Version: 1, scheme: 'exact', network: 'solana', payload })
    for (const name of ['x-payment', 'payment-signature']) {
      const reply = await post<{ message: string }>(testbed.url, {}, { [name]: payment })
      expectError(reply, 400, 'malformed_payment')
      expect(reply.body.message).toMatch(/version 1, but only version 2 is supported/)
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
    ['scheme', 'upto'],
  ])('ADD-21 a leg with another %s is not in the quote', async (field, value) => {
    const { payload } = await signFor(await walletOn(family, testbed.chains), testbed.url)
    const changed = { ...payload, accepted: { ...payload.accepted, [field]: value } }
    expectRefused(await pay(testbed.url, encoded(changed)), 'leg_not_in_quote')
  })

  it.each([
    ['less', { amount: '249999' }],
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

  it('ADD-21 an empty wallet gets a clear refusal, and its signature pays once it is funded', async () => {
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

  it('a body that differs from the quoted order is a 422', async () => {
    const { text } = await signFor(await walletOn(family, testbed.chains), testbed.url)
    expectError(await pay(testbed.url, text, { units: 2 }), 422, 'validation_error')
    expectError(await pay(testbed.url, text, { units: 1, provider: 'storj' }), 422, 'validation_error')
  })

  it('PAY-44 an expired quote is a 410', async () => {
    let late = 0
    const gateway = await startTestGateway(testbed.chains.variables, { now: () => Date.now() + late })
    const { text } = await signFor(await walletOn(family, testbed.chains), gateway.url)
    late = 301_000
    expectError(await pay(gateway.url, text), 410, 'quote_expired')
    await gateway.stop()
  })
})

describe('a payment changed after signing', () => {
  it.each([
    ['another payer', { from: DEV_PAYERS[2]!.address }],
    ['more time', { validBefore: '99999999999' }],
  ])('PAY-52 an authorization with %s is refused', async (_name, change) => {
    const { payload } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
    const signed = payload.payload as { authorization: object; signature: string }
    const authorization = { ...signed.authorization, ...change }
    expectRefused(await pay(testbed.url, encoded({ ...payload, payload: { ...signed, authorization } })))
  })

  it.each([
    ['no memo of the quote', { memo: undefined }],
    ['a memo of another quote', { memo: `pr_${'0'.repeat(32)}` }],
    ['another fee payer', { feePayer: PUBLICATION.address }],
  ])('ADD-03 a transaction with %s is refused', async (_name, change) => {
    const changed = (leg: X402Leg) => ({ ...leg, extra: { ...leg.extra, ...change } }) as X402Leg
    expectRefused(await pay(testbed.url, await signedFor('primary', testbed, changed)))
  })

  it('PAY-52 a transaction with a changed signature is refused, and bytes that are no transaction are malformed', async () => {
    const { payload } = await signFor(await walletOn('primary', testbed.chains), testbed.url)
    const bytes = Buffer.from((payload.payload as { transaction: string }).transaction, 'base64')
    bytes[70]! ^= 1
    const send = (transaction: string) => pay(testbed.url, encoded({ ...payload, payload: { transaction } }))
    expectRefused(await send(bytes.toString('base64')))
    expectError(await send('AQAAAA=='), 400, 'malformed_payment')
  })
})

describe('quotes', () => {
  it('PAY-43 an unknown quote is a 404', async () => {
    const { payload } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
    const extra = { ...payload.accepted.extra, pay_req_id: `pr_${'0'.repeat(32)}` }
    const text = encoded({ ...payload, accepted: { ...payload.accepted, extra } })
    expectError(await pay(testbed.url, text), 404, 'pay_req_not_found')
  })

  it('a quote of the other endpoint has no leg for signed payments on the primary chain', async () => {
    const { payload } = await signFor(await walletOn('primary', testbed.chains), testbed.url)
    const plain = await testGatewayOf(testbed.gateway).quote()
    const accepted = asRequirements(legOf(plain, 'USDC'))
    expectRefused(await pay(testbed.url, encoded({ ...payload, accepted })), 'leg_not_signable')
  })

  it('ADD-21 units are 1 by default, even without a body', async () => {
    const url = `${testbed.url}/v1/x402/storage`
    for (const init of [{}, { body: '' }, { body: '{}', headers: { 'content-type': 'application/json' } }]) {
      const response = await fetch(url, { method: 'POST', ...init })
      expect(response.status).toBe(402)
      const { extensions } = (await response.json()) as X402Quote
      expect(extensions.svc.price_summary).toMatchObject({ units: 1 })
    }
  })

  it('PAY-07 quotes of both endpoints do not share an Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'of-the-other-endpoint' }
    await testGatewayOf(testbed.gateway).quote({ units: 1 }, key)
    expectError(await post(testbed.url, { units: 1 }, key), 409, 'idempotency_conflict')
  })
})

it('ADD-17 ADD-21 a renewal is not sold at this endpoint, which offers nothing instead', async () => {
  const bought = await pay(testbed.url, (await signFor(await walletOn('evm', testbed.chains), testbed.url)).text)
  before = await treasuries(testbed.chains)
  const order = { units: 1, extends: bought.body.receipt_id }
  const shop = testGatewayOf(testbed.gateway)
  const quote = await shop.quote(order)
  expect(quote.extensions.svc.info).not.toHaveProperty('x402_url')
  expect(JSON.stringify(quote)).not.toContain('/v1/x402/storage')
  const leg = legOf(quote, 'USDC', 'evm-mainnet')
  const accepts = [asRequirements({ ...leg, extra: { ...leg.extra, version: '2' } })]
  const client = await walletOn('evm', testbed.chains)
  const signed = await client.createPaymentPayload({ ...quote, accepts })
  const text = encoded({ ...signed, accepted: asRequirements(leg) })
  const plain = await shop.send<{ hint: string; details?: object }>('POST', '/v1/storage/request', order, {
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
