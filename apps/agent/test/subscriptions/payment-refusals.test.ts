import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { toBase58 } from '@svc/protocol/bytes'
import { beforeEach, describe, expect, it } from 'vitest'
import { useAgentStack } from '../agent-stack.ts'
import { countPurchases, expectError, legOf, pay, payReqId, subscriptionApi } from '../subscription-api.ts'
import { evmPayer, type Payer, primaryPayer } from '../wallets.ts'

const stack = useAgentStack()
const api = subscriptionApi(() => stack.agent)
let quote: SubscriptionQuote
let before: Awaited<ReturnType<typeof countPurchases>>
beforeEach(async () => {
  quote = await api.quote()
  before = await countPurchases(stack)
})

const SIGNATURE = toBase58(new Uint8Array(64).fill(7))
const HASH = `0x${'ab'.repeat(32)}`

describe.each([
  ['SOL', 'primary-mainnet', primaryPayer(0)],
  ['USDC', 'primary-mainnet', primaryPayer(1)],
  ['MON', 'evm-mainnet', evmPayer(0)],
  ['USDC', 'evm-mainnet', evmPayer(1)],
] as const)('PAY-50 AGENT-03 a payment of %s on %s', (ticker, network, payer: Payer) => {
  const leg = () => legOf(quote, ticker, network)
  const isEvm = network === 'evm-mainnet'

  async function expectRefused(tx: string, reason: string) {
    const reply = await api.confirm({ quote, tx, identity: payer.identity, leg: leg() })
    expectError(reply, 402, 'payment_verification_failed', reason)
    expect(await countPurchases(stack)).toEqual(before)
  }

  it('T-25 is rejected when it is one unit too small', async () => {
    await expectRefused(await pay(stack, leg(), payer, { amount: BigInt(leg().amount) - 1n }), 'amount_too_small')
  })

  it('T-25 is rejected when it is of another asset', async () => {
    const other = quote.accepts.find(({ network: on, asset }) => on === leg().network && asset !== leg().asset)!
    const tx = await pay(stack, other, payer, { amount: BigInt(other.amount) * 10n })
    await expectRefused(tx, 'nothing_received')
  })

  it('T-25 is rejected when it goes to another address', async () => {
    const { address } = DEMO_PAYERS[2]!
    const onPrimary = ticker === 'USDC' ? await tokenAccountOf(address, ticker) : address
    const payTo = isEvm ? DEV_PAYERS[5]!.address : onPrimary
    await expectRefused(await pay(stack, { ...leg(), payTo }, payer), 'nothing_received')
  })

  it('ADD-03 T-02 is rejected when it names another quote', async () => {
    const memo = payReqId(await api.quote())
    await expectRefused(await pay(stack, leg(), payer, { memo }), 'names_another_quote')
  })

  it('T-03 is rejected when it is older than the quote', async () => {
    const tx = await pay(stack, leg(), payer, { memo: null })
    stack.clock.advance(31)
    quote = await api.quote()
    await expectRefused(tx, 'before_quote')
  })

  it('T-01 is rejected when it has paid another quote', async () => {
    const first = await api.quote()
    const confirmation = { identity: payer.identity, leg: legOf(first, ticker, network) }
    const tx = await pay(stack, confirmation.leg, payer, { memo: null })
    const { status, body } = await api.confirm({ quote: first, tx, ...confirmation })
    expect(status).toBe(200)
    before = await countPurchases(stack)
    await expectRefused(tx, 'transaction_already_used')
    const { body: again } = await api.confirm({ quote: first, tx, ...confirmation })
    expect(again.subscription).toEqual(body.subscription)
  })

  it('AMB-49 is rejected when the transaction id has the form of the other chain', async () => {
    await expectRefused(isEvm ? SIGNATURE : HASH, 'wrong_transaction_form')
  })
})
