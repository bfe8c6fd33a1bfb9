import type { DevClient } from '@svc/devnet/evm-chain/dev-client'
import { type FaultyNode, startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Destination } from '../../src/payment.ts'
import { describeBadNodes } from '../bad-nodes.ts'
import { type Payments, payTokens, startPayments, TO_TREASURY, TREASURY, USDC_TO_TREASURY } from './payments.ts'

describeBadNodes('EVM', async () => {
  const payments = await startPayments()
  return {
    url: payments.url,
    tx: await payTokens(payments.people.payer, 5n),
    destination: USDC_TO_TREASURY,
    chainMethod: 'eth_chainId',
    otherChain: '0x1',
    findMethod: 'eth_getTransactionReceipt',
    methods: ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_blockNumber', 'eth_getBlockByNumber'],
    createReader: (rpcUrls, timeoutMs) => payments.readerOf({ rpcUrls, timeoutMs }),
    startNode: payments.startNode,
    stop: () => payments.stop(),
  }
})

describe('an EVM node that forges its answers', () => {
  let payments: Payments
  let node: FaultyNode
  let payer: DevClient
  beforeAll(async () => {
    payments = await startPayments()
    payer = payments.people.payer
    node = await startFaultyNode(payments.url)
  })
  afterAll(async () => {
    await node.stop()
    await payments.stop()
  })

  function read(tx: string, method: string, change: (result: object) => unknown, destination: Destination) {
    node.behave(withResult(method, change))
    return payments.readerOf({ rpcUrls: [node.url] }).read(tx, destination)
  }
  const problem = (text: string) => ({ outcome: 'unavailable', problem: expect.stringContaining(text) })
  const pay = (value: bigint) => payer.sendTransaction({ to: TREASURY, value })

  it.each(['eth_getTransactionReceipt', 'eth_getTransactionByHash'])(
    'T-01 cannot show %s of another transaction',
    async (method) => {
      const [tx, larger] = [await pay(1n), await pay(1_000n)]
      const answer = await payments.chain.request({ method, params: [larger] })
      expect(await read(tx, method, () => answer, TO_TREASURY)).toEqual(
        problem('a transaction other than the requested one'),
      )
    },
  )

  it('PAY-50 shows neither a failure nor a payment without the outcome of a transaction', async () => {
    const lie = (result: object) => ({ ...result, status: '0x2' })
    const reading = await read(await pay(5n), 'eth_getTransactionReceipt', lie, TO_TREASURY)
    expect(reading).toEqual(problem('without an outcome'))
  })

  it('PAY-46 cannot show a transaction signed for another chain', async () => {
    const lie = (result: object) => ({ ...result, chainId: '0x1' })
    expect(await read(await pay(5n), 'eth_getTransactionByHash', lie, TO_TREASURY)).toEqual(problem('another chain'))
  })

  it('T-45 shows no payment in a block that is no longer on the chain', async () => {
    const lie = (result: object) => ({ ...result, hash: `0x${'00'.repeat(32)}` })
    const reading = await read(await pay(5n), 'eth_getBlockByNumber', lie, TO_TREASURY)
    expect(reading).toEqual({ outcome: 'not_found' })
  })

  it('T-45 cannot show a block that does not contain the transaction', async () => {
    const lie = (result: object) => ({ ...result, transactions: [] })
    expect(await read(await pay(5n), 'eth_getBlockByNumber', lie, TO_TREASURY)).toEqual(problem('without its'))
  })

  it.each([
    ['T-45 a reverted event', (log: object) => ({ ...log, removed: true })],
    [
      'T-25 the transfer of a token without amounts',
      (log: { topics: string[]; data: string }) => ({ ...log, topics: [...log.topics, log.data], data: '0x' }),
    ],
  ])('%s does not count', async (_, change: (log: never) => object) => {
    const lie = (result: { logs: never[] }) => ({ ...result, logs: result.logs.map(change) })
    node.behave(withResult('eth_getTransactionReceipt', lie))
    const reader = payments.readerOf({ rpcUrls: [node.url] })
    const reading = await reader.read(await payTokens(payer, 5n), USDC_TO_TREASURY)
    expect(reading).toEqual({ outcome: 'rejected', reason: 'nothing_received' })
  })
})
