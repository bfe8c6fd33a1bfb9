import { TOKENS } from '@svc/devnet/evm-chain/contracts'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { type FaultyProxy, startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { createPublicClient, http } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { transfer } from '../../src/wallets/erc20.ts'
import { connectEvm } from '../../src/wallets/evm-node.ts'
import { evmWallet } from '../../src/wallets/evm-wallet.ts'
import { useMarket } from '../market.ts'

let proxy: FaultyProxy
const market = useMarket()
beforeAll(async () => {
  proxy = await startFaultyProxy(market.chains.evm.url)
})
afterAll(() => proxy.stop())

const owner = DEV_PAYERS[0]!.address
const call = { to: DEV_PAYERS[1]!.address, value: 5n, data: '0x1234' } as const

it('an EVM node returns the same values as through viem', async () => {
  const url = market.chains.evm.url
  const [ours, viems] = [connectEvm(url), createPublicClient({ transport: http(url), cacheTime: 0 })]
  expect(await ours.chainId()).toBe(BigInt(await viems.getChainId()))
  expect(await ours.blockNumber()).toBe(await viems.getBlockNumber())
  expect(await ours.balance(owner)).toBe(await viems.getBalance({ address: owner }))
  expect(await ours.nonce(owner, 'pending')).toBe(await viems.getTransactionCount({ address: owner }))
  expect(await ours.gas(owner, call)).toBe(await viems.estimateGas({ account: owner, ...call }))
  expect(await ours.fees()).toEqual(await viems.estimateFeesPerGas())
  expect(await ours.block(0n)).toMatchObject({ number: 0n })
  expect(await ours.block(10n ** 9n)).toBeNull()
  expect(await ours.receipt(`0x${'1'.repeat(64)}`)).toBeNull()
})

it('fees are derived from the gas price if a node has no eth_maxPriorityFeePerGas', async () => {
  const node = connectEvm(proxy.url)
  const [{ baseFeePerGas }, price] = await Promise.all([
    createPublicClient({ transport: http(market.chains.evm.url) }).getBlock(),
    createPublicClient({ transport: http(market.chains.evm.url) }).getGasPrice(),
  ])
  proxy.plan(/eth_maxPriorityFeePerGas/, {
    lie: ([block]: object[]) => [block, { id: 2, error: { code: -32601, message: 'there is no such method' } }],
  })
  expect((await node.fees()).maxPriorityFeePerGas).toBe(price - baseFeePerGas!)
})

it('calls made together share one request, and their answers may come in any order', async () => {
  const node = connectEvm(proxy.url)
  proxy.plan(/eth_chainId/, { lie: (answers: object[]) => answers.toReversed() })
  const before = proxy.seen.length
  const [chainId, balance] = await Promise.all([node.chainId(), node.balance(owner)])
  expect([chainId, balance]).toEqual([143n, await connectEvm(market.chains.evm.url).balance(owner)])
  expect(proxy.seen.length).toBe(before + 1)
})

it('calls are retried while a node is busy and fail with the error that the node returns', async () => {
  const node = connectEvm(proxy.url)
  proxy.plan(/eth_chainId/, { answer: { status: 429, body: 'slow down' } }, { cut: 'answer' })
  expect(await node.chainId()).toBe(143n)
  const tooMuch = { to: TOKENS.USDC.address, value: 0n, data: transfer(call.to, 10n ** 40n) }
  await expect(node.gas(owner, tooMuch)).rejects.toThrow(/revert/)
})

it.each<[string, unknown]>([
  ['that it accepts no batches', { jsonrpc: '2.0', id: null, error: { message: 'batches are not allowed' } }],
  ['another call', [{ id: 99, result: '0x8f' }]],
  ['with a word', [{ id: 1, result: 'many' }]],
  ['without a result', [{ id: 1 }]],
  ['with a web page', '<html>'],
])('a call fails if the node answers %s', { tags: ['nightly'] }, async (_, body) => {
  const answer = { answer: { status: 200, body } }
  proxy.plan(/eth_chainId/, answer, answer, answer, answer)
  await expect(connectEvm(proxy.url).chainId()).rejects.toThrow()
  proxy.behave()
})

it('PAY-25 a wallet refuses a leg whose recipient would use too much gas', async () => {
  const { accepts } = await market.client().quote({ units: 1, pay_network: 'evm-mainnet', pay_asset: 'MON' })
  const wallet = evmWallet({ rpcUrl: proxy.url, account: DEV_PAYERS[0]!.privateKey })
  proxy.plan(/eth_estimateGas/, {
    lie: ([first, ...rest]: object[]) => [{ ...first, result: '0x1c9c380' }, ...rest],
  })
  await expect(wallet.objection(accepts[0]!)).rejects.toThrow('30000000 gas')
})

it('PAY-25 a wallet signs only for the chain that the quote names, even if its node switches chains', async () => {
  const { accepts } = await market.client().quote({ units: 1, pay_network: 'evm-mainnet', pay_asset: 'MON' })
  const leg = accepts[0]!
  const wallet = evmWallet({ rpcUrl: proxy.url, account: DEV_PAYERS[0]!.privateKey })
  expect(await wallet.objection(leg)).toBeNull()
  proxy.plan(/eth_chainId/, { lie: (answers) => JSON.parse(JSON.stringify(answers).replaceAll('"0x8f"', '"0x1"')) })
  await expect(wallet.sign(leg)).rejects.toMatchObject({ money: 'not_moved' })
  expect((await wallet.sign(leg)).life).toMatchObject({ nonce: expect.any(String) })
})

it('T-139 an answer of another chain or for another receipt does not make a payment failed or expired', async () => {
  const { accepts } = await market.client().quote({ units: 1, pay_network: 'evm-mainnet', pay_asset: 'MON' })
  const wallet = evmWallet({ rpcUrl: proxy.url, account: DEV_PAYERS[0]!.privateKey })
  const payment = await wallet.sign(accepts[0]!)
  interface Answer {
    result: unknown
  }
  // In the order of the batch: the chain, the final block, the nonce, the receipt, the block at signing.
  const answersWith =
    (...results: unknown[]) =>
    (answers: Answer[]) =>
      answers.map((answer, i) => (results[i] === undefined ? answer : { ...answer, result: results[i] }))
  const onAnotherChain = ['0x1', undefined, '0xffff', null]
  const ofAnother = { transactionHash: `0x${'ab'.repeat(32)}`, status: '0x0', blockNumber: '0x0' }
  for (const results of [onAnotherChain, [undefined, undefined, undefined, ofAnother]]) {
    proxy.always(/eth_getTransactionReceipt/, { lie: answersWith(...results) })
    await expect(wallet.outcomeOf(payment)).rejects.toThrow(/another (chain|transaction)/)
    proxy.behave()
    expect(await wallet.outcomeOf(payment)).toBe('pending')
  }
})
