import type { Quote } from '@svc/api/purchases'
import { type Behaviour, type FaultyNode, honestly, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import type { Variables } from '@svc/http-service/config'
import { expectError, type Market, openMarket, payReqId } from '@svc/testbed/market'
import type { TestGateway } from '@svc/testbed/test-gateway'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'

let market: Market
let shop: TestGateway
const nodes = {} as Record<'primary' | 'evm', FaultyNode>
beforeAll(async () => {
  market = await openMarket()
  nodes.primary = await startFaultyNode(market.chains.primary.url)
  nodes.evm = await startFaultyNode(market.chains.evm.url)
  shop = await market.open({ PRIMARY_RPC_URLS: nodes.primary.url, EVM_RPC_URLS: nodes.evm.url })
})
afterAll(async () => {
  await market.close()
  await Promise.all(Object.values(nodes).map((node) => node.stop()))
})

const HANGING = () => null

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

  const confirm = (seller = shop) => seller.confirm({ pay_req_id: payReqId(quote) }, tx)

  async function expectNothingStored() {
    const { db } = shop.gateway.context.database
    expect(await db.selectFrom('receipts').where('tx', '=', tx).selectAll().execute()).toEqual([])
    expect(await db.selectFrom('payment_transactions').where('tx', '=', tx).selectAll().execute()).toEqual([])
  }

  async function expectPaidLater(seller = shop) {
    node().behave(honestly)
    const { status, body } = await confirm(seller)
    expect([status, body.idempotent]).toEqual([200, false])
  }

  it.each<[string, Behaviour]>([
    ['answers with errors', () => ({ status: 500, body: 'oops' })],
    ['answers with an empty body', () => ({ body: '' })],
    ['shows another transaction', withResult(findMethod, () => ({}))],
  ])(
    'AMB-86 a confirmation is a 503 and stores nothing while the node %s; the payment counts later',
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

  it('PAY-46 a confirmation is a 503 and stores nothing while the node is on another chain; the payment counts later', async () => {
    node().behave(ofAnotherChain)
    const misled = await secondGateway({ PRIMARY_RPC_URLS: nodes.primary.url, EVM_RPC_URLS: nodes.evm.url })
    for (let i = 0; i < 2; i++) expectError(await confirm(misled), 503, 'chain_unavailable')
    await expectNothingStored()
    await expectPaidLater(misled)
  })

  it('PAY-49 a confirmation is a 402 tx_not_found and stores nothing while the node does not know the transaction', async () => {
    node().behave(withResult(findMethod, () => null))
    expectError(await confirm(), 402, 'tx_not_found')
    await expectNothingStored()
    await expectPaidLater()
  })

  /** On the same database as the first gateway. */
  async function secondGateway(variables: Variables): Promise<TestGateway> {
    const DATABASE_URL = `sqlite:${shop.gateway.context.config.dataDir}/gateway.db`
    const second = await market.open({ DATABASE_URL, ...variables })
    onTestFinished(() => second.close())
    return second
  }
})

it('AMB-86 a confirmation gives up on nodes that hang, and other requests are answered meanwhile', {
  tags: ['nightly'],
}, async () => {
  const hung = [
    await shop.quote({ units: 1, pay_network: 'primary-mainnet' }),
    await shop.quote({ units: 1, pay_network: 'evm-mainnet' }),
  ]
  const txs = await Promise.all(hung.map((quote) => market.pay(quote.accepts[0]!)))
  for (const node of Object.values(nodes)) node.behave(HANGING)
  onTestFinished(() => Object.values(nodes).forEach((node) => void node.behave(honestly)))
  const confirmAll = () => Promise.all(hung.map((quote, i) => shop.confirm({ pay_req_id: payReqId(quote) }, txs[i]!)))
  const pending = confirmAll()
  expect((await shop.send('GET', '/v1/price')).status).toBe(200)
  expect((await shop.quote()).accepts).toHaveLength(9)
  for (const reply of await pending) expectError(reply, 503, 'chain_unavailable')
  for (const node of Object.values(nodes)) node.behave(honestly)
  expect((await confirmAll()).map(({ status }) => status)).toEqual([200, 200])
})

it('AMB-10 a quote offers the token accounts that were seen before the primary chain failed', async () => {
  expect((await shop.quote()).accepts).toHaveLength(9)
  nodes.primary.behave(() => ({ status: 500, body: '' }))
  market.clock.advance(120)
  expect((await shop.quote()).accepts).toHaveLength(9)
  nodes.primary.behave(honestly)
})
