import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { toBase58 } from '@svc/protocol/bytes'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Agency, evmPayer, openAgency, type Payer, primaryPayer } from '../agent-stack.ts'
import { booked, expectError, legOf, pay, payReqId, type Till, tillOf } from '../subscription-api.ts'

let agency: Agency
let till: Till
let quote: SubscriptionQuote
let before: Awaited<ReturnType<typeof booked>>
beforeAll(async () => {
  agency = await openAgency()
  till = tillOf(agency.agent)
})
beforeEach(async () => {
  quote = await till.quote()
  before = await booked(agency)
})
afterAll(() => agency.close())

const SIGNATURE = toBase58(new Uint8Array(64).fill(7))
const HASH = `0x${'ab'.repeat(32)}`

describe.each([
  ['SOL', 'primary-mainnet', primaryPayer(0)],
  ['USDC', 'primary-mainnet', primaryPayer(1)],
  ['MON', 'evm-mainnet', evmPayer(0)],
  ['USDC', 'evm-mainnet', evmPayer(1)],
] as const)('PAY-50 AGENT-03 %s on %s is not paid by', (ticker, network, payer: Payer) => {
  const leg = () => legOf(quote, ticker, network)
  const isEvm = network === 'evm-mainnet'

  async function expectRefused(tx: string, reason: string) {
    const reply = await till.show({ quote, tx, identity: payer.identity, leg: leg() })
    expectError(reply, 402, 'payment_verification_failed', reason)
    expect(await booked(agency)).toEqual(before)
  }

  it('T-25 one unit too little', async () => {
    await expectRefused(await pay(agency, leg(), payer, { amount: BigInt(leg().amount) - 1n }), 'amount_too_small')
  })

  it('T-25 another asset, however much of it', async () => {
    const other = quote.accepts.find(({ network: on, asset }) => on === leg().network && asset !== leg().asset)!
    const tx = await pay(agency, other, payer, { amount: BigInt(other.amount) * 10n })
    await expectRefused(tx, 'nothing_received')
  })

  it('T-25 a payment to somebody else', async () => {
    const stranger = isEvm ? DEV_PAYERS[5]!.address : DEMO_PAYERS[2]!.address
    if (ticker === 'USDC' && !isEvm) return expectRefused(await pay(agency, solOf(stranger), payer), 'nothing_received')
    await expectRefused(await pay(agency, { ...leg(), payTo: stranger }, payer), 'nothing_received')
  })

  it('ADD-03 T-02 a transaction that names another quote', async () => {
    const memo = payReqId(await till.quote())
    await expectRefused(await pay(agency, leg(), payer, { memo }), 'names_another_quote')
  })

  it('T-03 a transaction that is older than the quote', async () => {
    const tx = await pay(agency, leg(), payer, { memo: null })
    agency.clock.advance(31)
    quote = await till.quote()
    await expectRefused(tx, 'before_quote')
  })

  it('T-01 a transaction that paid another quote', async () => {
    const first = await till.quote()
    const showing = { identity: payer.identity, leg: legOf(first, ticker, network) }
    const tx = await pay(agency, showing.leg, payer, { memo: null })
    const { status, body } = await till.show({ quote: first, tx, ...showing })
    expect(status).toBe(200)
    before = await booked(agency)
    await expectRefused(tx, 'transaction_already_used')
    const { body: again } = await till.show({ quote: first, tx, ...showing })
    expect(again.subscription).toEqual(body.subscription)
  })

  it("AMB-49 a transaction of the other chain's form", async () => {
    await expectRefused(isEvm ? SIGNATURE : HASH, 'wrong_transaction_form')
  })

  const solOf = (payTo: string): PaymentLeg => ({ ...legOf(quote, 'SOL'), payTo })
})
