import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs, type DevClient } from '@svc/devnet/evm-chain/dev-client'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { expectError, type Market, openMarket, payReqId } from '@svc/devnet/services/market'
import type { TestGateway } from '@svc/devnet/services/test-gateway'
import { afterAll, beforeAll, expect, it } from 'vitest'

let market: Market
let shop: TestGateway
let evm: DevClient
beforeAll(async () => {
  market = await openMarket()
  market.chains.primary.chain.hold()
  shop = await market.open()
  evm = connectAs(DEV_PAYERS[7]!, market.chains.evm.url)
  await evm.setAutomine(false)
})
afterAll(() => market.close())

async function expectPaid(seller: TestGateway, pay_req_id: string, tx: string) {
  const { status, body } = await seller.confirm({ pay_req_id }, tx)
  expect([status, body.idempotent]).toEqual([200, false])
}

async function expectNotYet(seller: TestGateway, pay_req_id: string, tx: string) {
  expectError(await seller.confirm({ pay_req_id }, tx), 402, 'tx_not_found')
}

/** Expects the same receipt before, during and after a fork that removes the payment from its block. */
async function expectSameReceipt(pay_req_id: string, tx: string, fork: () => Promise<void>) {
  const confirm = async () => (await shop.confirm({ pay_req_id }, tx)).body
  const { receipt } = await confirm()
  await fork()
  expect(await confirm()).toMatchObject({ idempotent: true, receipt })
  await market.chains.settle()
  expect(await confirm()).toMatchObject({ idempotent: true, receipt })
  const { status, body } = await shop.send<object>('GET', `/v1/receipts/${receipt.receipt_id}/verify-payment`)
  expect([status, body]).toMatchObject([200, { matches: { amount_sufficient: true, payer_matches: true } }])
}

it('PAY-49 ERR-02 a payment counts once the primary chain has confirmed it', async () => {
  const quote = await shop.quote()
  const tx = await market.pay(quote.accepts[0]!)
  await expectNotYet(shop, payReqId(quote), tx)
  market.clock.advance(0.799)
  await expectNotYet(shop, payReqId(quote), tx)
  market.clock.advance(0.001)
  await expectPaid(shop, payReqId(quote), tx)
})

it('PAY-49 T-45 a processed payment that disappears has no receipt until it lands, and one receipt after a fork moves it', async () => {
  const { chain, url } = market.chains.primary
  const quote = await shop.quote()
  const tx = await market.pay(quote.accepts[0]!)
  market.clock.advance(0.4)
  const { wire } = chain.transaction(tx)!
  chain.fork({ drop: [tx] })
  market.clock.advance(0.8)
  await expectNotYet(shop, payReqId(quote), tx)
  await call(url, 'sendTransaction', [wire, { encoding: 'base64', preflightCommitment: 'confirmed' }])
  market.clock.advance(0.8)
  await expectPaid(shop, payReqId(quote), tx)
  await expectSameReceipt(payReqId(quote), tx, async () => chain.fork())
})

it('PAY-46 a payment counts once the primary chain has finalized it with FINALITY=primary=finalized', async () => {
  const strict = await market.open({ FINALITY: 'primary=finalized' })
  const quote = await strict.quote()
  const tx = await market.pay(quote.accepts[0]!)
  market.clock.advance(13.1)
  await expectNotYet(strict, payReqId(quote), tx)
  market.clock.advance(0.1)
  await expectPaid(strict, payReqId(quote), tx)
})

it('PAY-49 PAY-46 a pending payment on the EVM chain counts when it is in a block, and only once if a fork moves it', async () => {
  const quote = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
  const tx = await market.pay(quote.accepts[0]!)
  await expectNotYet(shop, payReqId(quote), tx)
  await evm.mine({ blocks: 1 })
  await expectPaid(shop, payReqId(quote), tx)
  await expectSameReceipt(payReqId(quote), tx, market.chains.evm.chain.fork)
})

it.each([{ FINALITY: 'evm=3' }, { FINALITY: 'evm=finalized' }])(
  'PAY-46 T-45 a payment on the EVM chain counts with %j once enough blocks follow it',
  async (variables) => {
    const strict = await market.open(variables)
    const quote = await strict.quote({ units: 1, pay_network: 'evm-mainnet', pay_asset: 'USDC' })
    const tx = await market.pay(quote.accepts[0]!)
    await evm.mine({ blocks: 2 })
    await expectNotYet(strict, payReqId(quote), tx)
    await evm.mine({ blocks: 1 })
    await expectPaid(strict, payReqId(quote), tx)
  },
)

it('T-45 PAY-46 a reorganization below the required depth sells nothing until the payment is that deep again', async () => {
  const strict = await market.open({ FINALITY: 'evm=2' })
  const quote = await strict.quote({ units: 1, pay_network: 'evm-mainnet', pay_asset: 'USDC' })
  const tx = await market.pay(quote.accepts[0]!)
  await evm.mine({ blocks: 1 })
  await market.chains.evm.chain.fork()
  for (let blocks = 0; blocks < 2; blocks++) {
    await expectNotYet(strict, payReqId(quote), tx)
    await evm.mine({ blocks: 1 })
  }
  await expectPaid(strict, payReqId(quote), tx)
})

it('PAY-49 T-45 a replaced transaction is not found, the answer suggests that cause, and its replacement pays', async () => {
  const quote = await shop.quote({ units: 1, pay_network: 'evm-mainnet' })
  const { payTo, amount } = quote.accepts[0]!
  const { maxFeePerGas } = await evm.estimateFeesPerGas()
  const nonce = await evm.getTransactionCount({ address: evm.account.address })
  const sign = (times: bigint) =>
    evm.signTransaction({
      to: payTo as `0x${string}`,
      value: BigInt(amount),
      nonce,
      gas: 21_000n,
      chainId: 143,
      type: 'eip1559',
      maxFeePerGas: maxFeePerGas * times,
      maxPriorityFeePerGas: times,
    })
  const [replaced, tx] = [await send(await sign(1n)), await send(await sign(2n))]
  await evm.mine({ blocks: 1 })
  const reply = await shop.confirm({ pay_req_id: payReqId(quote) }, replaced)
  expectError(reply, 402, 'tx_not_found')
  expect(reply.body).toMatchObject({ hint: expect.stringContaining('whether the wallet replaced it') })
  await expectPaid(shop, payReqId(quote), tx)

  function send(serializedTransaction: `0x${string}`) {
    return evm.sendRawTransaction({ serializedTransaction })
  }
})
