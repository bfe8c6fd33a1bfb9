import { EVM } from '@svc/api/networks'
import { startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { createEvmBalanceReader } from '../../src/evm/balance-reader.ts'
import { payTokens, startPayments, TO_TREASURY, TREASURY, USDC_TO_TREASURY } from './payments.ts'

const CLOSED = 'http://127.0.0.1:1'

const payments = forAllTests(() => startPayments())

describe('balances of the EVM chain', () => {
  const read = (...rpcUrls: string[]) => createEvmBalanceReader(EVM, rpcUrls).read([USDC_TO_TREASURY, TO_TREASURY])

  it('INT-04 grow by payments in coins and tokens, and keep the requested order', async () => {
    const { payer } = payments.people
    const [tokens, coins] = await read(payments.url)
    const value = 2n ** 64n + 1n
    await payer.sendTransaction({ to: TREASURY, value })
    await payTokens(payer, 7n)
    expect(await read(payments.url)).toEqual([tokens! + 7n, coins! + value])
  })

  it('INT-05 are unknown when no node answers, and known when one does', async () => {
    expect(await read(CLOSED)).toEqual([null, null])
    expect(await read(CLOSED, payments.url)).toEqual(await read(payments.url))
  })

  it('INT-05 are unknown for an address without a contract, and known for the others', async () => {
    const noContract = { asset: `0x${'12'.repeat(20)}`, payTo: TREASURY }
    const balances = await createEvmBalanceReader(EVM, [payments.url]).read([noContract, TO_TREASURY])
    expect(balances).toEqual([null, (await read(payments.url))[1]])
  })

  it('PAY-46 are not read from a node of another chain', async () => {
    const other = await startFaultyNode(
      payments.url,
      withResult('eth_chainId', () => '0x1'),
    )
    expect(await read(other.url)).toEqual([null, null])
    await other.stop()
  })
})
