// The agent service sells subscriptions with the same challenges.

import type { SubscriptionConfirmation, SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { forAllTests } from '@svc/devnet/for-tests'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestAgent } from '@svc/devnet/services/agent'
import { type Reply, testGatewayOf } from '@svc/devnet/services/test-gateway'
import { Credential, Receipt } from 'mppx'
import { validate } from 'mppx/discovery'
import { expect, it } from 'vitest'
import { startX402Testbed } from '../x402/x402-testbed.ts'
import {
  type ChargeChallenge,
  challengesIn,
  challengesOf,
  expectProblem,
  payableWith,
  payChallenge,
  shown,
  solanaClient,
} from './mpp-testbed.ts'

const PATH = '/v1/service/request'

const testbed = forAllTests(() => startX402Testbed())
const agent = forAllTests(() => startTestAgent({ ...testbed.chains.agentVariables, GATEWAY_URL: testbed.url }))

async function ask(headers: Record<string, string> = {}): Promise<ChargeChallenge[]> {
  const response = await fetch(agent.url + PATH, { headers })
  expect(response.status).toBe(402)
  return challengesIn(response.headers)
}

async function show(authorization: string): Promise<Reply<SubscriptionConfirmation>> {
  const response = await fetch(agent.url + PATH, { headers: { authorization } })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

it('ADD-48 a stock client buys a subscription for the paying wallet and can repeat the call without paying again', async () => {
  const before = await subscriptions()
  const response = await solanaClient(testbed.chains).fetch(agent.url + PATH)
  const body = (await response.json()) as SubscriptionConfirmation
  expect(response.status, JSON.stringify(body)).toBe(200)
  expect(body.subscription).toMatchObject({ identity: DEMO_PAYERS[1]!.address, status: 'active' })
  const receipt = Receipt.deserialize(response.headers.get('payment-receipt') ?? '')
  expect(receipt).toMatchObject({ method: 'solana', status: 'success', reference: body.receipt.tx_hash })
  expect(await subscriptions()).toBe(before + 1)
})

it('ADD-48 a token transfer on the EVM chain pays once by its hash, in any letter case', async () => {
  const challenge = payableWith(await ask({ 'accept-payment': 'evm/charge' }), TOKENS.USDC.address)
  expect(challenge.request.methodDetails.credentialTypes).toEqual(['hash'])
  const tx = await payChallenge(testbed.chains, challenge)
  const first = await show(shown(challenge, tx))
  expect([first.status, first.body.idempotent]).toEqual([200, false])
  expect(first.body.subscription.identity).toBe(DEV_PAYERS[1]!.address.toLowerCase())
  const again = await show(shown(challenge, `0x${tx.slice(2).toUpperCase()}`))
  expect([again.status, again.body.idempotent, again.body.receipt_id]).toEqual([200, true, first.body.receipt_id])
  // The same transaction pays no second quote.
  const second = payableWith(await ask(), TOKENS.USDC.address)
  expectProblem(await show(shown(second, tx)), 'verification-failed', 'payment_verification_failed')
})

it('T-100 a credential of the gateway, of another quote, altered or only signed buys nothing', async () => {
  const before = await subscriptions()
  const [mine] = await ask()
  const tx = DEMO_PAYERS[1]!.address.repeat(2).slice(0, 87)
  const refuse = async (authorization: string, type: string) =>
    expectProblem(await show(authorization), type, 'payment_credential_invalid')
  const [storage] = await challengesOf(testGatewayOf(testbed.gateway))
  await refuse(shown(storage!, tx), 'invalid-challenge')
  const cheaper = { ...mine!, request: { ...mine!.request, amount: '1' } }
  await refuse(shown(cheaper, tx), 'invalid-challenge')
  const usdc = payableWith(await ask(), TOKENS.USDC.address)
  const authorization = {
    type: 'authorization' as const,
    signature: `0x${'11'.repeat(65)}`,
    from: DEV_PAYERS[1]!.address,
    to: usdc.request.recipient,
    value: usdc.request.amount,
    validAfter: '0',
    validBefore: '9999999999',
    nonce: `0x${'22'.repeat(32)}`,
  }
  await refuse(Credential.serialize({ challenge: usdc, payload: authorization }), 'invalid-payload')
  // This transaction does not exist.
  expectProblem(await show(shown(usdc, `0x${'33'.repeat(32)}`)), 'verification-failed', 'tx_not_found')
  expect(await subscriptions()).toBe(before)
})

it('ADD-48 directories can read the offer, and other Authorization schemes are ignored', async () => {
  const document = await (await fetch(`${agent.url}/openapi.json`)).json()
  expect(validate(document)).toEqual([])
  expect(document.paths[PATH].get['x-payment-info'].offers).toHaveLength(2)
  const other = await fetch(agent.url + PATH, { headers: { authorization: 'Bearer abc' } })
  expect([other.status, ((await other.json()) as SubscriptionQuote).x402Version]).toEqual([402, 2])
})

async function subscriptions(): Promise<number> {
  return (await agent.context.database.db.selectFrom('receipts').select('subscription_id').execute()).length
}
