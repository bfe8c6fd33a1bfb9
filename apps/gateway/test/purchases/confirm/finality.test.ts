import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs, type DevClient } from '@svc/devnet/evm-chain/dev-client'
import { startEvmChain } from '@svc/devnet/evm-chain/start'
import { payLeg } from '@svc/devnet/pay-leg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { expectError, type Market, openMarket, payReqId, type Shop } from '../market.ts'

let market: Market
let shop: Shop
let evm: DevClient
beforeAll(async () => {
  market = await openMarket({ landing: 'later' })
  shop = await market.open()
  evm = connectAs(DEV_PAYERS[7]!, market.chains.evm.url)
})
afterAll(() => market.close())

async function expectPaid(seller: Shop, pay_req_id: string, tx: string) {
  const { status, body } = await seller.confirm({ pay_req_id }, tx)
  expect([status, body.idempotent]).toEqual([200, false])
}

async function expectNotYet(seller: Shop, pay_req_id: string, tx: string) {
  expectError(await seller.confirm({ pay_req_id }, tx), 402, 'tx_not_found')
}

it('PAY-49 ERR-02 AMB-76 a payment counts once the primary chain has confirmed it', async () => {
  const quote = await shop.quote()
  const tx = await market.pay(quote.accepts[0]!)
  await expectNotYet(shop, payReqId(quote), tx)
  market.clock.advance(0.399)
  await expectNotYet(shop, payReqId(quote), tx)
  market.clock.advance(0.001)
  await expectPaid(shop, payReqId(quote), tx)
})

it('AMB-76 with PRIMARY_COMMITMENT=finalized a payment counts once the primary chain has finalized it', async () => {
  const strict = await market.open({ PRIMARY_COMMITMENT: 'finalized' })
  const quote = await strict.quote()
  const tx = await market.pay(quote.accepts[0]!)
  market.clock.advance(1.9)
  await expectNotYet(strict, payReqId(quote), tx)
  market.clock.advance(0.1)
  await expectPaid(strict, payReqId(quote), tx)
})

it('PAY-49 AMB-76 a pending payment on the EVM chain counts once it is in a block', async () => {
  const quote = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
  await evm.setAutomine(false)
  const tx = await market.pay(quote.accepts[0]!)
  await expectNotYet(shop, payReqId(quote), tx)
  await evm.setAutomine(true)
  await evm.mine({ blocks: 1 })
  await expectPaid(shop, payReqId(quote), tx)
})

it('AMB-76 T-24 with EVM_CONFIRMATIONS=3 a payment counts once three blocks hold or follow it', async () => {
  const strict = await market.open({ EVM_CONFIRMATIONS: '3' })
  const quote = await strict.quote({ units: 1, pay_network: 'evm-mainnet', pay_asset: 'USDC' })
  const tx = await market.pay(quote.accepts[0]!)
  await evm.mine({ blocks: 1 })
  await expectNotYet(strict, payReqId(quote), tx)
  await evm.mine({ blocks: 1 })
  await expectPaid(strict, payReqId(quote), tx)
})

it('AMB-76 T-24 with EVM_FINALITY=finalized a payment counts once the EVM chain has finalized its block', async () => {
  const chain = await startEvmChain({ port: 0, finalityDepth: 4, now: market.clock.now })
  onTestFinished(() => chain.stop())
  const strict = await market.open({ EVM_FINALITY: 'finalized', EVM_RPC_URLS: chain.url })
  const quote = await strict.quote({ units: 1, pay_network: 'evm-mainnet' })
  const tx = await payLeg({ ...market.chains, evm: chain }, quote.accepts[0]!)
  const miner = connectAs(DEV_PAYERS[7]!, chain.url)
  await miner.mine({ blocks: 3 })
  await expectNotYet(strict, payReqId(quote), tx)
  await miner.mine({ blocks: 1 })
  await expectPaid(strict, payReqId(quote), tx)
  await strict.stop()
})
