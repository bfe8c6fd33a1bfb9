// Answers of EVM nodes. An example is JSON: the result of each method.

import { EVM } from '@svc/api/networks'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, refusal } from '@svc/devnet/properties/rules'
import { expect, it, onTestFinished } from 'vitest'
import { createEvmBalanceReader } from '../../src/evm/balance-reader.ts'
import { createEvmPaymentReader } from '../../src/evm/payment-reader.ts'
import { createEvmDecimalsReader } from '../../src/evm/token-decimals.ts'
import { ChainUnavailable } from '../../src/nodes/node-pool.ts'
import { startLyingNode } from '../nodes/lying-node.ts'

const TX = `0x${'ab'.repeat(32)}`
const [PAYER, TREASURY, TOKEN] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}`) as [string, string, string]
const BLOCK = `0x${'cd'.repeat(32)}`
const topic = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}`
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const NATIVE = { asset: EVM.nativeAsset, payTo: TREASURY }
const OUTCOMES: readonly string[] = ['found', 'not_found', 'rejected', 'unavailable']

const ANSWERS = {
  eth_chainId: `0x${EVM.chainId.toString(16)}`,
  eth_getTransactionReceipt: {
    transactionHash: TX,
    blockNumber: '0x64',
    blockHash: BLOCK,
    status: '0x1',
    logs: [
      {
        address: TOKEN,
        topics: [TRANSFER, topic(PAYER), topic(TREASURY)],
        data: `0x${'7'.padStart(64, '0')}`,
        removed: false,
      },
    ],
  },
  eth_getTransactionByHash: { hash: TX, chainId: '0x8f', from: PAYER, to: TREASURY, value: '0x5', input: '0x' },
  eth_blockNumber: '0x70',
  eth_getBlockByNumber: { number: '0x64', hash: BLOCK, timestamp: '0x6b49d200', transactions: [TX] },
  eth_getBalance: '0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  eth_call: `0x${'12'.padStart(64, '0')}`,
}
const HONEST = Buffer.from(JSON.stringify(ANSWERS))

it('T-129 no made-up input breaks the rules of answers of EVM nodes', async () => {
  const node = await startLyingNode()
  const rpcUrls = [node.url]
  const reader = createEvmPaymentReader({ rpcUrls, chainId: EVM.chainId })
  const readBalances = createEvmBalanceReader(EVM, rpcUrls)
  const readDecimals = createEvmDecimalsReader(EVM, rpcUrls)

  async function checkReading(destination: { asset: string; payTo: string }): Promise<boolean> {
    const reading = await reader.read(TX, destination)
    must(OUTCOMES.includes(reading.outcome), 'has an unknown outcome')
    if (reading.outcome !== 'found') return false
    must(reading.tx === TX && /^0x[0-9a-f]{40}$/.test(reading.payer), 'finds a payer that is not an account')
    must(reading.received > 0n && Number.isFinite(reading.height), 'finds an invalid payment')
    must(reading.blockTime === null || Number.isFinite(reading.blockTime), 'finds an invalid time')
    return true
  }

  onTestFinished(node.stop)
  expect(
    await problemWith({
      examples: [
        HONEST,
        JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 3, message: 'reverted', data: '0x' } }),
      ],
      words: [
        ...'0x 0x0 0x1 null logs removed'.split(' '),
        TX,
        BLOCK,
        TRANSFER,
        PAYER,
        TREASURY,
        `0x${'f'.repeat(64)}`,
      ],
      isJson: true,
      isCostly: true,
      maxBytes: 65_536,
      async rule(input) {
        node.answer(input)
        const isFound = await checkReading(NATIVE)
        must(isFound || !input.equals(HONEST), 'finds nothing in honest answers')
        await checkReading({ ...NATIVE, asset: TOKEN })
        const balances = await readBalances.read([NATIVE, { ...NATIVE, asset: TOKEN }])
        must(
          balances.every((balance) => balance === null || typeof balance === 'bigint'),
          'a balance is not a number',
        )
        const decimals = await readDecimals([TOKEN]).catch(refusal(ChainUnavailable))
        must(
          decimals === null || decimals.every((one) => one === null || Number.isInteger(one)),
          'decimals are not a number',
        )
      },
    }),
  ).toBeNull()
})
