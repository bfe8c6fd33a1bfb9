import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startSecondAgent, useAgentStack } from '../agent-stack.ts'
import { countPurchases, expectError, legOf, pay, subscriptionApi } from '../subscription-api.ts'
import { evmPayer, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()
const api = subscriptionApi(() => stack.agent)
let quote: SubscriptionQuote
let before: Awaited<ReturnType<typeof countPurchases>>
beforeEach(async () => {
  quote = await api.quote()
  before = await countPurchases(stack)
})

describe.each([
  ['primary', 'SOL', 'primary-mainnet', primaryPayer(2)],
  ['evm', 'MON', 'evm-mainnet', evmPayer(2)],
] as const)('AMB-86 a payment on the %s chain', (chain, ticker, network, payer) => {
  const CLOSED = 'http://127.0.0.1:9'
  const variable = chain === 'evm' ? 'EVM_RPC_URLS' : 'PRIMARY_RPC_URLS'

  async function expectUnknown(rpcUrl: string) {
    const leg = legOf(quote, ticker, network)
    const confirmation = { quote, tx: await pay(stack, leg, payer), identity: payer.identity, leg }
    const blind = await startSecondAgent(stack, { [variable]: rpcUrl })
    onTestFinished(() => blind.stop())
    const reply = await subscriptionApi(() => blind).confirm(confirmation)
    expectError(reply, 503, 'chain_unavailable')
    expect(await countPurchases(stack)).toEqual(before)
    expect(reply.body).toMatchObject({ hint: expect.stringContaining('do not pay again') })
    const { status, body } = await api.confirm(confirmation)
    expect([status, body.idempotent]).toEqual([200, false])
  }

  it('AMB-86 is undecided while the nodes cannot be reached, and counts later', { tags: ['nightly'] }, () =>
    expectUnknown(CLOSED),
  )

  it('AMB-86 is undecided while the nodes answer garbage, and counts later', async () => {
    const node = await startFaultyProxy(stack.chains[chain].url)
    onTestFinished(() => node.stop())
    node.always(/./, { bytes: (bytes) => bytes.subarray(0, bytes.length / 2) })
    await expectUnknown(node.url)
  })
})
