import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { forEachTest } from '@svc/devnet/for-tests'
import { toBase58 } from '@svc/protocol/bytes'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Reply, startSecondAgent, useAgentStack } from '../agent-stack.ts'
import { countPurchases, expectError, legOf, pay, payReqId, subscriptionApi } from '../subscription-api.ts'
import { evmPayer, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()
const api = subscriptionApi(() => stack.agent)
const quote = forEachTest(() => api.quote())
const before = forEachTest(() => countPurchases(stack))

const SIGNATURE = toBase58(new Uint8Array(64).fill(7))
const HASH = `0x${'ab'.repeat(32)}`
const { identity } = primaryPayer(0)

async function expectNoPurchase(reply: Reply<unknown>, status: number, code: string) {
  expectError(reply, status, code)
  expect(await countPurchases(stack)).toEqual(before)
}

describe('AGENT-03 a confirmation', () => {
  it('AGENT-03 is answered with 422 and the name of the header when the identity is missing or malformed', async () => {
    for (const given of [null, '', 'me', '0x12', `${identity}, ${identity}`]) {
      const reply = await api.confirm({ quote, tx: SIGNATURE, identity: given })
      await expectNoPurchase(reply, 422, 'validation_error')
      expect(reply.body).toMatchObject({ detail: [{ loc: ['header', 'X-Svc-Identity'] }] })
    }
  })

  it.each([
    ['no transaction', {}],
    ['an empty transaction', { 'x402-tx': '' }],
    ['63 bytes', { 'x402-tx': toBase58(new Uint8Array(63).fill(7)) }],
    ['a hash without 0x', { 'x402-tx': HASH.slice(2) }],
  ])('AGENT-03 is answered with 402 tx_required for %s', async (_, headers) => {
    const reply = await api.postConfirm({ pay_req_id: payReqId(quote) }, { 'x-svc-identity': identity, ...headers })
    await expectNoPurchase(reply, 402, 'tx_required')
  })

  it('AGENT-03 is answered with 404 for an unknown quote, including a quote of the gateway', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"units":1}' }
    const storage = await (await fetch(`${stack.gateway.url}/v1/storage/request`, init)).json()
    for (const pay_req_id of ['', 'pr_0', `pr_${'0'.repeat(32)}`, payReqId(storage as SubscriptionQuote)]) {
      const reply = await api.postConfirm({ pay_req_id }, { 'x-svc-identity': identity, 'x402-tx': SIGNATURE })
      await expectNoPurchase(reply, 404, 'pay_req_not_found')
    }
  })

  it('AGENT-03 is answered with 400 for a leg that is incomplete or not in the quote', async () => {
    const confirm = (leg: object) =>
      api.postConfirm({ pay_req_id: payReqId(quote), ...leg }, { 'x-svc-identity': identity, 'x402-tx': SIGNATURE })
    const absent = { pay_network: 'evm-mainnet', pay_asset: 'SOL' }
    await expectNoPurchase(await confirm(absent), 400, 'leg_not_in_quote')
    await expectNoPurchase(await confirm({ pay_asset: 'USDC' }), 400, 'leg_incomplete')
  })

  it('PAY-49 is answered with 402 and a retry time for a transaction that is not on the chain', async () => {
    const primary = await api.confirm({ quote, tx: SIGNATURE, identity })
    await expectNoPurchase(primary, 402, 'tx_not_found')
    expect(primary.headers.get('retry-after')).toBe('2')
    const leg = legOf(quote, 'MON', 'evm-mainnet')
    await expectNoPurchase(await api.confirm({ quote, tx: HASH, identity, leg }), 402, 'tx_not_found')
  })

  it('PAY-50 T-25 is answered with 402 and the reason for a payment that is one unit too small', async () => {
    const leg = legOf(quote, 'USDC', 'evm-mainnet')
    const payer = evmPayer(1)
    const tx = await pay(stack, leg, payer, { amount: BigInt(leg.amount) - 1n })
    const reply = await api.confirm({ quote, tx, identity: payer.identity, leg })
    await expectNoPurchase(reply, 402, 'payment_verification_failed')
    expect(reply.body).toMatchObject({ details: { reason: 'amount_too_small' } })
  })

  it('AGENT-03 AMB-86 is undecided while the nodes return garbage, and the payment counts later', async () => {
    const payer = primaryPayer(2)
    const confirmation = { quote, tx: await pay(stack, quote.accepts[0]!, payer), identity: payer.identity }
    const node = await startFaultyProxy(stack.chains.primary.url)
    onTestFinished(() => node.stop())
    node.always(/./, { bytes: (bytes) => bytes.subarray(0, bytes.length / 2) })
    const blind = await startSecondAgent(stack, { PRIMARY_RPC_URLS: node.url })
    onTestFinished(() => blind.stop())
    const reply = await subscriptionApi(() => blind).confirm(confirmation)
    await expectNoPurchase(reply, 503, 'chain_unavailable')
    expect(reply.body).toMatchObject({ hint: expect.stringContaining('do not pay again') })
    expect((await api.confirm(confirmation)).body.idempotent).toBe(false)
  })

  it('T-10 is limited for unauthenticated callers, but not when it repeats the confirmation of a paid quote', async () => {
    const payer = primaryPayer(3)
    const tx = await pay(stack, quote.accepts[0]!, payer)
    expect((await api.confirm({ quote, tx, identity: payer.identity })).status).toBe(200)
    const other = await api.quote()
    const limited = await startSecondAgent(stack, { RATE_LIMITS: 'address=2/min' })
    onTestFinished(() => limited.stop())
    const statuses = []
    for (let i = 0; i < 4; i++)
      statuses.push((await subscriptionApi(() => limited).confirm({ quote: other, tx: SIGNATURE, identity })).status)
    expect(statuses).toEqual([402, 402, 429, 429])
    expect((await subscriptionApi(() => limited).confirm({ quote, tx, identity: payer.identity })).status).toBe(200)
  })
})
