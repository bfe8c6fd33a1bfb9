import { randomBytes } from 'node:crypto'
import { withBody, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import type { NodeFaults } from '@svc/devnet/node-faults'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { expectError } from '@svc/devnet/services/market'
import { testGatewayOf } from '@svc/devnet/services/test-gateway'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import {
  CHAIN,
  expectPending,
  PREPARE,
  payUntilSettled,
  READ,
  SEND,
  startFaultyTestbed,
  TAKEN,
} from './faulty-testbed.ts'
import {
  buyWith,
  expectRefused,
  FAMILIES,
  type Family,
  legOn,
  PRICE,
  pay,
  post,
  responseIn,
  signFor,
  treasuryUsdc,
  walletOn,
} from './x402-testbed.ts'

const testbed = forAllTests(() => startFaultyTestbed())
afterEach(() => testbed.calm())

describe.each(FAMILIES)('on the %s chain', (family) => {
  /** Pays while the node hides the payment; returns the transaction. */
  async function payUnseen(text: string): Promise<string> {
    testbed.nodes[family].behave(withResult(READ[family], () => null))
    const transaction = expectPending(await pay(testbed.gateway.url, text))
    testbed.calm()
    return transaction
  }

  it('T-19 T-45 a payment dropped by a fork is sent again, and a moved one has one receipt', async () => {
    const before = await treasuryUsdc(family, testbed.chains)
    const { chain } = testbed.chains[family]
    const { text } = await testbed.sign(family)
    chain.hold()
    const transaction = await payUnseen(text)
    await chain.fork({ drop: [transaction] })
    chain.resume()
    const { status, body } = await payUntilSettled(testbed.gateway.url, text)
    expect([status, body.receipt?.tx_hash], JSON.stringify(body)).toEqual([200, transaction])
    await chain.fork()
    expect(await testbed.paidSince(family, before)).toBe(PRICE)
    expect((await pay(testbed.gateway.url, text)).body).toMatchObject({ idempotent: true, receipt: body.receipt })
  })

  it.each<[string, NodeFaults]>([
    ['lags', { behind: 1000 }],
    ['has forgotten it', { keeps: family === 'evm' ? 4 : 100 }],
    ['refuses every second request', { refusesEvery: 2 }],
  ])('T-19 T-45 a landed payment stays pending on a node that %s, and is sent only once', async (_name, faults) => {
    const before = await treasuryUsdc(family, testbed.chains)
    const { text } = await testbed.sign(family)
    const transaction = await payUnseen(text)
    await testbed.chains[family].chain.settle()
    await testbed.chains.evm.chain.request({ method: 'hardhat_mine', params: ['0x5', '0x0'] })
    for (let times = 0; times < 3; times++) testbed.chains.primary.chain.expireBlockhashes()
    testbed.fail(family, faults)
    for (let times = 0; times < 2; times++) expectPending(await pay(testbed.gateway.url, text))
    testbed.calm()
    expect((await pay(testbed.gateway.url, text)).body).toMatchObject({ receipt: { tx_hash: transaction } })
    expect(await testbed.paidSince(family, before)).toBe(PRICE)
  })

  it('PAY-06 a stock client that repeats its call while the payment is pending need not sign again', async () => {
    const before = await treasuryUsdc(family, testbed.chains)
    const client = await walletOn(family, testbed.chains)
    const key = { 'idempotency-key': `${family}-pending` }
    testbed.nodes[family].behave(withResult(READ[family], () => null))
    expect((await buyWith(client, testbed.gateway.url, { units: 1 }, key)).status).toBe(503)
    const transaction = expectPending(await post(testbed.gateway.url, { units: 1 }, key))
    testbed.calm()
    await testbed.chains[family].chain.settle()
    const response = await buyWith(client, testbed.gateway.url, { units: 1 }, key)
    expect(await response.json()).toMatchObject({ ok: true, idempotent: true, receipt: { tx_hash: transaction } })
    expect(await testbed.paidSince(family, before)).toBe(PRICE)
  })

  it('a payment that a node accepted and lost is sent again with the same signature and pays once', async () => {
    const before = await treasuryUsdc(family, testbed.chains)
    const { text } = await testbed.sign(family)
    testbed.nodes[family].behave(withBody(SEND[family], TAKEN[family]))
    const transaction = expectPending(await pay(testbed.gateway.url, text))
    expect(await testbed.paidSince(family, before)).toBe(0n)
    testbed.calm()
    const { body } = await payUntilSettled(testbed.gateway.url, text)
    expect(body).toMatchObject({ ok: true, receipt: { tx_hash: transaction } })
    expect(await testbed.paidSince(family, before)).toBe(PRICE)
  })

  it.each(PREPARE[family])(
    'nothing is sent while no node answers %s, and the same signature pays later',
    async (method) => {
      const before = await treasuryUsdc(family, testbed.chains)
      const { text } = await testbed.sign(family)
      testbed.nodes[family].behave(withBody(method, 'out of order'))
      const reply = await pay(testbed.gateway.url, text)
      expectError(reply, 503, 'chain_unavailable', 'unavailable')
      expect(responseIn(reply.headers)).toMatchObject({ success: false, transaction: '' })
      testbed.calm()
      expect((await payUntilSettled(testbed.gateway.url, text)).status).toBe(200)
      expect(await testbed.paidSince(family, before)).toBe(PRICE)
    },
  )

  it('PAY-46 a node of another chain is asked only for its chain and gets no payment', async () => {
    const before = await treasuryUsdc(family, testbed.chains)
    const gateway = await testbed.open({})
    const { text } = await signFor(await walletOn(family, testbed.chains), gateway.url)
    const { method, other } = CHAIN[family]
    const { calls, behave } = testbed.nodes[family]
    behave(withResult(method, () => other))
    const asked = calls.length
    expectError(await pay(gateway.url, text), 503, 'chain_unavailable', 'unavailable')
    expect(new Set(calls.slice(asked))).toEqual(new Set([method]))
    testbed.calm()
    expect((await payUntilSettled(gateway.url, text)).status).toBe(200)
    expect(await testbed.paidSince(family, before)).toBe(PRICE)
    await gateway.stop()
  })

  it('AMB-06 a payment sent before its quote expires counts whenever it lands', async () => {
    let behind = 1_000_000
    const slow = await testbed.open({}, { now: () => Date.now() - behind })
    const client = await walletOn(family, testbed.chains)
    const [shown, recorded] = [await signFor(client, slow.url), await signFor(client, slow.url)]
    expect((await payUntilSettled(slow.url, shown.text)).status).toBe(200)
    testbed.nodes[family].behave(withBody(SEND[family], TAKEN[family]))
    expectPending(await pay(slow.url, recorded.text))
    testbed.calm()
    behind = 0
    expect((await payUntilSettled(slow.url, recorded.text)).status).toBe(200)
    await slow.stop()
  })

  it('a gateway that cannot pay the network fee reports it, and the same signature pays once it can', async () => {
    const key = randomBytes(32)
    const variable = family === 'evm' ? 'X402_EVM_FACILITATOR_KEY' : 'X402_SVM_FEE_PAYER_KEY'
    const unfunded = await testbed.open({ [variable]: key.toString('hex') })
    const before = await treasuryUsdc(family, testbed.chains)
    const { text, quote } = await signFor(await walletOn(family, testbed.chains), unfunded.url)
    const reply = await pay(unfunded.url, text)
    expectError(reply, 503, 'chain_unavailable', 'unfunded')
    expect(reply.body).toMatchObject({ hint: expect.stringContaining('/v1/storage/request') })
    const address = legOn(family, quote).extra.feePayer ?? privateKeyToAccount(`0x${key.toString('hex')}`).address
    await call(testbed.chains[family].url, 'dev_faucet', [address, family === 'evm' ? 'MON' : 'SOL', '1'])
    expect((await payUntilSettled(unfunded.url, text)).status).toBe(200)
    expect(await testbed.paidSince(family, before)).toBe(PRICE)
    await unfunded.stop()
  })

  it('the quote has no leg on a chain without a key', async () => {
    const variable = family === 'evm' ? 'X402_EVM_FACILITATOR_KEY' : 'X402_SVM_FEE_PAYER_KEY'
    const oneChain = await testbed.open({ [variable]: '' })
    const { accepts } = (await signFor(await walletOn(other(family), testbed.chains), oneChain.url)).quote
    expect(new Set(accepts.map(({ network }) => network)).size).toBe(1)
    const { text } = await testbed.sign(family)
    expectError(await pay(oneChain.url, text), 404, 'pay_req_not_found')
    await oneChain.stop()
  })
})

it('the endpoint answers 404 and names the other endpoint when no key is set', async () => {
  const closed = await testbed.open({ X402_EVM_FACILITATOR_KEY: '', X402_SVM_FEE_PAYER_KEY: '' })
  const reply = await post(closed.url, { units: 1 })
  expectError(reply, 404, 'not_found')
  expect(reply.body).toMatchObject({ hint: expect.stringContaining('/v1/storage/request') })
  const plain = await testGatewayOf(closed).quote()
  expect(plain.extensions.svc.info).not.toHaveProperty('x402_url')
  const signed = await testGatewayOf(closed).send(
    'POST',
    '/v1/storage/request',
    { units: 1 },
    { 'payment-signature': 'x' },
  )
  expectError(signed, 400, 'signed_payment_not_taken')
  expect(signed.body).toMatchObject({ hint: expect.stringContaining('pay an entry of accepts yourself') })
  await closed.stop()
})

it('another signature pays the same quote after a transaction of the primary chain has expired', async () => {
  const before = await treasuryUsdc('primary', testbed.chains)
  const { text, payload } = await testbed.sign('primary')
  testbed.nodes.primary.behave(withBody(SEND.primary, TAKEN.primary))
  expectPending(await pay(testbed.gateway.url, text))
  for (let times = 0; times < 3; times++) testbed.chains.primary.chain.expireBlockhashes()
  testbed.calm()
  expectRefused(await pay(testbed.gateway.url, text), 'transaction_simulation_failed')
  expect((await payUntilSettled(testbed.gateway.url, await testbed.signAgain('primary', payload))).status).toBe(200)
  expect(await testbed.paidSince('primary', before)).toBe(PRICE)
})

function other(family: Family): Family {
  return family === 'evm' ? 'primary' : 'evm'
}
