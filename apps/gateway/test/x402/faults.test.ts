import { randomBytes } from 'node:crypto'
import { withBody, withResult } from '@svc/devnet/faulty-node'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectError, shopOf } from '../purchases/market.ts'
import { CHAIN, expectPending, type FaultyShop, openFaultyShop, READ, SEND, TAKEN, TRY } from './faulty-gateway.ts'
import {
  buyWith,
  FAMILIES,
  type Family,
  legOn,
  PRICE,
  post,
  responseIn,
  show,
  signFor,
  treasuryUsdc,
  walletOn,
} from './x402-gateway.ts'

let shop: FaultyShop
beforeAll(async () => {
  shop = await openFaultyShop()
})
afterEach(() => shop.calm())
afterAll(() => shop.stop())

describe.each(FAMILIES)('on the %s chain', (family) => {
  it.each([
    ['does not show it', () => withResult(READ[family], () => null)],
    ['cannot be asked', () => withBody(READ[family], 'out of order')],
  ])(
    'a payment was sent, and the node %s: it is pending, and the same signature later gets its receipt',
    async (_name, lie) => {
      const before = await treasuryUsdc(family, shop.chains)
      const { text } = await shop.sign(family)
      shop.nodes[family].behave(lie())
      const transaction = expectPending(await show(shop.gateway.url, text))
      expect(await shop.paidSince(family, before)).toBe(PRICE)
      shop.calm()
      const { status, body } = await show(shop.gateway.url, text)
      expect(status, JSON.stringify(body)).toBe(200)
      expect(body.receipt.tx_hash).toBe(transaction)
      expect(await shop.paidSince(family, before)).toBe(PRICE)
    },
  )

  it('a pending payment can also be confirmed with its transaction', async () => {
    const before = await treasuryUsdc(family, shop.chains)
    const { text, payload } = await shop.sign(family)
    shop.nodes[family].behave(withResult(READ[family], () => null))
    const transaction = expectPending(await show(shop.gateway.url, text))
    shop.calm()
    const { network, extra } = payload.accepted
    const claim = { pay_req_id: extra.pay_req_id, pay_network: network, pay_asset: 'USDC' }
    const confirmed = await shopOf(shop.gateway).confirm(claim, transaction)
    expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200)
    expect((await show(shop.gateway.url, text)).body.receipt).toEqual(confirmed.body.receipt)
    expect(await shop.paidSince(family, before)).toBe(PRICE)
  })

  it('PAY-06 a stock client that repeats the whole call while its payment is pending is not asked to sign again', async () => {
    const before = await treasuryUsdc(family, shop.chains)
    const client = await walletOn(family, shop.chains)
    const key = { 'idempotency-key': `${family}-pending` }
    shop.nodes[family].behave(withResult(READ[family], () => null))
    expect((await buyWith(client, shop.gateway.url, { units: 1 }, key)).status).toBe(503)
    const transaction = expectPending(await post(shop.gateway.url, { units: 1 }, key))
    shop.calm()
    const response = await buyWith(client, shop.gateway.url, { units: 1 }, key)
    expect(await response.json()).toMatchObject({ ok: true, idempotent: true, receipt: { tx_hash: transaction } })
    expect(await shop.paidSince(family, before)).toBe(PRICE)
  })

  it('a node took the payment and lost it: the same signature is sent again, and pays once', async () => {
    const before = await treasuryUsdc(family, shop.chains)
    const { text } = await shop.sign(family)
    shop.nodes[family].behave(withBody(SEND[family], TAKEN[family]))
    const transaction = expectPending(await show(shop.gateway.url, text))
    expect(await shop.paidSince(family, before)).toBe(0n)
    shop.calm()
    const { body } = await show(shop.gateway.url, text)
    expect(body).toMatchObject({ ok: true, receipt: { tx_hash: transaction } })
    expect(await shop.paidSince(family, before)).toBe(PRICE)
  })

  it.each(TRY[family])(
    'no node answers %s before the payment is sent: nothing is, and the same signature pays later',
    async (method) => {
      const before = await treasuryUsdc(family, shop.chains)
      const { text } = await shop.sign(family)
      shop.nodes[family].behave(withBody(method, 'out of order'))
      const reply = await show(shop.gateway.url, text)
      expectError(reply, 503, 'chain_unavailable', 'unavailable')
      expect(responseIn(reply.headers)).toMatchObject({ success: false, transaction: '' })
      shop.calm()
      expect((await show(shop.gateway.url, text)).status).toBe(200)
      expect(await shop.paidSince(family, before)).toBe(PRICE)
    },
  )

  it('PAY-46 a node of another chain is asked nothing but its chain, and nothing is sent to it', async () => {
    const before = await treasuryUsdc(family, shop.chains)
    const gateway = await shop.open({})
    const { text } = await signFor(await walletOn(family, shop.chains), gateway.url)
    const { method, other } = CHAIN[family]
    const { calls, behave } = shop.nodes[family]
    behave(withResult(method, () => other))
    const asked = calls.length
    expectError(await show(gateway.url, text), 503, 'chain_unavailable', 'unavailable')
    expect(new Set(calls.slice(asked))).toEqual(new Set([method]))
    shop.calm()
    expect((await show(gateway.url, text)).status).toBe(200)
    expect(await shop.paidSince(family, before)).toBe(PRICE)
    await gateway.stop()
  })

  it('AMB-06 a payment sent before its quote expires is good, whenever it lands', async () => {
    let behind = 1_000_000
    const slow = await shop.open({}, { now: () => Date.now() - behind })
    const client = await walletOn(family, shop.chains)
    const [shown, noted] = [await signFor(client, slow.url), await signFor(client, slow.url)]
    expect((await show(slow.url, shown.text)).status).toBe(200)
    shop.nodes[family].behave(withBody(SEND[family], TAKEN[family]))
    expectPending(await show(slow.url, noted.text))
    shop.calm()
    behind = 0
    expect((await show(slow.url, noted.text)).status).toBe(200)
    await slow.stop()
  })

  it('a gateway that cannot pay the network fee says so, and the same signature pays when it can', async () => {
    const key = randomBytes(32)
    const variable = family === 'evm' ? 'X402_EVM_FACILITATOR_KEY' : 'X402_SVM_FEE_PAYER_KEY'
    const poor = await shop.open({ [variable]: key.toString('hex') })
    const before = await treasuryUsdc(family, shop.chains)
    const { text, quote } = await signFor(await walletOn(family, shop.chains), poor.url)
    const reply = await show(poor.url, text)
    expectError(reply, 503, 'chain_unavailable', 'unfunded')
    expect(reply.body).toMatchObject({ hint: expect.stringContaining('/v1/storage/request') })
    const address = legOn(family, quote).extra.feePayer ?? privateKeyToAccount(`0x${key.toString('hex')}`).address
    await call(shop.chains[family].url, 'dev_faucet', [address, family === 'evm' ? 'MON' : 'SOL', '1'])
    expect((await show(poor.url, text)).status).toBe(200)
    expect(await shop.paidSince(family, before)).toBe(PRICE)
    await poor.stop()
  })

  it('without a key for this chain nothing is offered there', async () => {
    const variable = family === 'evm' ? 'X402_EVM_FACILITATOR_KEY' : 'X402_SVM_FEE_PAYER_KEY'
    const half = await shop.open({ [variable]: '' })
    const { accepts } = (await signFor(await walletOn(other(family), shop.chains), half.url)).quote
    expect(new Set(accepts.map(({ network }) => network)).size).toBe(1)
    const { text } = await shop.sign(family)
    expectError(await show(half.url, text), 404, 'pay_req_not_found')
    await half.stop()
  })
})

it('without any key the endpoint is closed, and names the other one', async () => {
  const closed = await shop.open({ X402_EVM_FACILITATOR_KEY: '', X402_SVM_FEE_PAYER_KEY: '' })
  const reply = await post(closed.url, { units: 1 })
  expectError(reply, 404, 'not_found')
  expect(reply.body).toMatchObject({ hint: expect.stringContaining('/v1/storage/request') })
  await closed.stop()
})

describe('a transaction of the primary chain that has expired', () => {
  it('is forgotten, and another signature pays the same quote', async () => {
    const before = await treasuryUsdc('primary', shop.chains)
    const { text, payload } = await shop.sign('primary')
    shop.nodes.primary.behave(withBody(SEND.primary, TAKEN.primary))
    expectPending(await show(shop.gateway.url, text))
    for (let times = 0; times < 3; times++) shop.chains.primary.chain.expireBlockhashes()
    shop.calm()
    expectError(await show(shop.gateway.url, text), 402, 'payment_verification_failed', 'transaction_simulation_failed')
    expect((await show(shop.gateway.url, await shop.signAgain('primary', payload))).status).toBe(200)
    expect(await shop.paidSince('primary', before)).toBe(PRICE)
  })
})

function other(family: Family): Family {
  return family === 'evm' ? 'primary' : 'evm'
}
