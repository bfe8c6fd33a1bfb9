import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs, type DevClient } from '@svc/devnet/evm-chain/dev-client'
import { forAllTests } from '@svc/devnet/for-tests'
import type { LocalNode } from '@svc/devnet/node-faults'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { expectError, openMarket, payReqId } from '@svc/devnet/services/market'
import { expectRefusal, type TestGateway } from '@svc/devnet/services/test-gateway'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ADMIN, expectReturned } from '../../unclaimed/unclaimed.ts'

type Chain = 'primary' | 'evm'

const market = forAllTests(() => openMarket())
let evm: DevClient
beforeAll(() => {
  market.chains.primary.chain.hold()
  market.chains.evm.chain.hold()
  evm = connectAs(DEV_PAYERS[0]!, market.chains.evm.url)
})

async function land(chain: Chain): Promise<void> {
  if (chain === 'evm') return evm.mine({ blocks: 1 })
  market.clock.advance(0.8)
  // The chain advances when it is called.
  await call(market.chains.primary.url, 'getSlot')
}

describe.each(['primary', 'evm'] as const)('nodes of the %s chain that disagree', (chain) => {
  let nodes: LocalNode[]
  let open: (count: number, quorum: number) => Promise<TestGateway>
  beforeAll(async () => {
    nodes = await Promise.all([1, 2, 3].map(() => market.chains[chain].startNode()))
    open = (count, quorum) => {
      const name = chain.toUpperCase()
      const urls = nodes.slice(0, count).map(({ url }) => url)
      return market.open({
        ...ADMIN,
        [`${name}_RPC_URLS`]: urls.join(),
        RPC_QUORUM: `${name.toLowerCase()}=${quorum}`,
      })
    }
  })
  beforeEach(() => {
    for (const node of nodes) node.behave({})
  })

  async function paid(shop: TestGateway, payer = 0) {
    const quote = await shop.quote({ units: 1, pay_network: `${chain}-mainnet` })
    const tx = await market.pay(quote.accepts[0]!, { payer })
    await land(chain)
    const pay_req_id = payReqId(quote)
    return { quote, pay_req_id, tx, confirm: (by = tx) => shop.confirm({ pay_req_id }, by) }
  }

  async function expectPaid({ confirm }: Awaited<ReturnType<typeof paid>>) {
    const { status, body } = await confirm()
    expect([status, body.idempotent], JSON.stringify(body)).toEqual([200, false])
  }

  it('PAY-49 T-205 a payment missing on a lagging node gets a hint not to pay again, and counts once the node catches up', async () => {
    const shop = await open(1, 1)
    const payment = await paid(shop)
    nodes[0]!.behave({ behind: 100 })
    const reply = await payment.confirm()
    expectError(reply, 402, 'tx_not_found')
    expect(reply.body).toMatchObject({ hint: expect.stringMatching(/^do not pay again: confirm again/) })
    nodes[0]!.behave({})
    await expectPaid(payment)
  })

  it('PAY-49 T-45 one lagging node among several delays no sale', async () => {
    const shop = await open(2, 1)
    nodes[0]!.behave({ behind: 100 })
    await expectPaid(await paid(shop))
    const three = await open(3, 2)
    await expectPaid(await paid(three))
  })

  it('T-45 a node on a fork sells nothing for a dropped payment, and does not delay a moved one', async () => {
    const shop = await open(3, 2)
    const [gone, moved] = [await paid(shop, 2), await paid(shop, 3)]
    nodes[0]!.behave({ isOnFork: true })
    await market.chains[chain].chain.fork({ drop: [gone.tx] })
    await land(chain)
    expectError(await gone.confirm(), 402, 'tx_not_found')
    await expectPaid(moved)
    expect((await moved.confirm()).body).toMatchObject({ idempotent: true })
  })

  it('T-45 two nodes that show a payment in different blocks decide nothing until they agree', async () => {
    const shop = await open(2, 2)
    const payment = await paid(shop)
    nodes[0]!.behave({ isOnFork: true })
    // The payment then lands at another height.
    await land(chain)
    await market.chains[chain].chain.fork()
    await land(chain)
    const reply = await payment.confirm()
    expectError(reply, 503, 'chain_unavailable')
    expect(reply.body).toMatchObject({ hint: expect.stringContaining('do not pay again') })
    nodes[0]!.behave({})
    await expectPaid(payment)
  })

  it('T-45 T-205 a payment dropped by a fork keeps its receipt, but its verification fails and a second payment is listed', async () => {
    const shop = await open(1, 1)
    const payment = await paid(shop)
    const { body } = await payment.confirm()
    await market.chains[chain].chain.fork({ drop: [payment.tx] })
    await land(chain)
    expect((await payment.confirm()).body).toMatchObject({ idempotent: true, receipt: body.receipt })
    const check = await shop.send('GET', `/v1/receipts/${body.receipt_id}/verify-payment`)
    expectRefusal(check, 502, 'tx_not_found_on_chain')
    // The buyer notices that the payment has disappeared, and pays again.
    const second = await market.pay(payment.quote.accepts[0]!, { payer: 1 })
    await land(chain)
    const refused = await payment.confirm(second)
    expect(refused.body).toMatchObject({ details: { reason: 'quote_already_paid', noted_for_refund: true } })
    await expectReturned(shop, { payReqId: payment.pay_req_id, paidBy: payment.tx, second })
  })
})
