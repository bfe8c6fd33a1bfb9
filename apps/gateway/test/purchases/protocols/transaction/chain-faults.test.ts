import { ASSETS } from '@svc/api/assets'
import type { Quote } from '@svc/api/purchases'
import { type Behaviour, honestly, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { expectError, openMarket, payReqId } from '@svc/devnet/services/market'
import { beforeEach, describe, expect, it } from 'vitest'

const market = forAllTests(() => openMarket())
const nodes = {
  primary: forAllTests(() => startFaultyNode(market.chains.primary.url)),
  evm: forAllTests(() => startFaultyNode(market.chains.evm.url)),
}
const shop = forAllTests(() => market.open({ PRIMARY_RPC_URLS: nodes.primary.url, EVM_RPC_URLS: nodes.evm.url }))

describe.each([
  ['primary', 'getTransaction', withResult('getGenesisHash', () => 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG')],
  ['evm', 'eth_getTransactionReceipt', withResult('eth_chainId', () => '0x1')],
] as const)('confirmations while the %s chain fails', (chain, findMethod, ofAnotherChain) => {
  const node = () => nodes[chain]
  let quote: Quote
  let tx: string
  beforeEach(async () => {
    node().behave(honestly)
    quote = await shop.quote({ units: 1, pay_network: `${chain}-mainnet` })
    tx = await market.pay(quote.accepts[0]!)
  })

  const confirm = () => shop.confirm({ pay_req_id: payReqId(quote) }, tx)

  async function expectNothingStored() {
    const { db } = shop.gateway.context.database
    expect(await db.selectFrom('receipts').where('tx', '=', tx).selectAll().execute()).toEqual([])
    expect(await db.selectFrom('payment_transactions').where('tx', '=', tx).selectAll().execute()).toEqual([])
  }

  async function expectPaidLater() {
    node().behave(honestly)
    const { status, body } = await confirm()
    expect([status, body.idempotent]).toEqual([200, false])
  }

  it.each<[string, Behaviour]>([
    ['answers with errors', () => ({ status: 500, body: 'oops' })],
    ['answers with an empty body', () => ({ body: '' })],
    ['shows another transaction', withResult(findMethod, () => ({}))],
    ['is on another chain', ofAnotherChain],
  ])(
    'AMB-86 PAY-46 a confirmation is a 503 and stores nothing while the node %s, and succeeds later',
    async (_, behaviour) => {
      node().behave(behaviour)
      const reply = await confirm()
      expectError(reply, 503, 'chain_unavailable')
      expect(reply.headers.get('retry-after')).toBe('5')
      expect(reply.body).toMatchObject({ hint: expect.stringContaining('do not pay again') })
      await expectNothingStored()
      await expectPaidLater()
    },
  )

  it('PAY-49 a confirmation is a 402 tx_not_found and stores nothing while the node does not know the transaction', async () => {
    node().behave(withResult(findMethod, () => null))
    expectError(await confirm(), 402, 'tx_not_found')
    await expectNothingStored()
    await expectPaidLater()
  })
})

it('PAY-19 a quote offers the token accounts that were known before the primary chain failed', async () => {
  expect((await shop.quote()).accepts).toHaveLength(ASSETS.length)
  nodes.primary.behave(() => ({ status: 500, body: '' }))
  market.clock.advance(120)
  expect((await shop.quote()).accepts).toHaveLength(ASSETS.length)
  nodes.primary.behave(honestly)
})
