import type { X402Quote } from '@svc/api/x402'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { MINTS, PUBLICATION } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestGateway } from '@svc/testbed/gateway'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectError, legOf, shopOf } from '../purchases/market.ts'
import {
  asRequirements,
  encoded,
  FAMILIES,
  legOn,
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
    ['too long', 'A'.repeat(8196)],
  ])('a PAYMENT-SIGNATURE is refused with 422 when it is %s', async (_name, header) => {
    const reply = await pay<{ detail: { loc: string[] }[] }>(testbed.url, header)
    expectError(reply, 422, 'validation_error')
    expect(reply.body.detail[0]?.loc).toEqual(['header', 'PAYMENT-SIGNATURE'])
  })

  it('a PAYMENT-SIGNATURE with a payload of the other chain is refused with 422', async () => {
    const { payload } = await signFor(await walletOn('evm', testbed.chains), testbed.url)
    const quote = await post<X402Quote>(testbed.url, { units: 1 })
    const mixed = { ...payload, accepted: asRequirements(legOn('primary', quote.body)) }
    expectError(await pay(testbed.url, encoded(mixed)), 422, 'validation_error')
  })
})

describe.each(FAMILIES)('on the %s chain', (family) => {
  it.each([
    ['amount', '1'],
    ['asset', family === 'evm' ? TOKENS.USDT0.address : MINTS.BETA.mint],
    ['payTo', family === 'evm' ? DEV_PAYERS[1]!.address : PUBLICATION.address],
    ['network', family === 'evm' ? 'eip155:1' : 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
    ['scheme', 'upto'],
  ])('a leg with another %s is not in the quote', async (field, value) => {
    const { payload } = await signFor(await walletOn(family, testbed.chains), testbed.url)
    const changed = { ...payload, accepted: { ...payload.accepted, [field]: value } }
    expectError(await pay(testbed.url, encoded(changed)), 400, 'leg_not_in_quote')
  })

  it.each([
    ['less', { amount: '249999' }],
    ['more', { amount: '250001' }],
    ['another asset', { asset: family === 'evm' ? TOKENS.USDT0.address : MINTS.USDT.mint }],
    ['another receiver', { payTo: family === 'evm' ? DEV_PAYERS[1]!.address : PUBLICATION.address }],
  ])('PAY-52 a payment signed for %s pays nothing', async (_name, changes) => {
    const reply = await pay(testbed.url, await signedFor(family, testbed, (leg) => ({ ...leg, ...changes })))
    expectError(reply, 402, 'payment_verification_failed')
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
    expectError(reply, 402, 'payment_verification_failed', 'transaction_already_used')
  })

  it('a wallet without funds pays nothing', async () => {
    const client = await walletOn(family, testbed.chains)
    const units = 1_000_000
    client.setSpendControls(false)
    const { text } = await signFor(client, testbed.url, { units, provider: 'arweave' })
    expectError(await pay(testbed.url, text, { units }), 402, 'payment_verification_failed')
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
    expectError(await pay(testbed.url, encoded({ ...payload, accepted })), 402, 'payment_verification_failed')
  })

  it('PAY-02 a quote needs units', async () => {
    expectError(await post(testbed.url, {}), 422, 'validation_error')
    expectError(await post(testbed.url, { units: 1, tags: [1] }), 422, 'validation_error')
  })

  it('PAY-07 quotes of both endpoints do not share an Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'of-the-other-endpoint' }
    await shopOf(testbed.gateway).quote({ units: 1 }, key)
    expectError(await post(testbed.url, { units: 1 }, key), 409, 'idempotency_conflict')
  })
})
