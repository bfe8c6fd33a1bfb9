import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { type Behaviour, withBody, withResult } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvmAccount, SignedTransaction } from '../../src/evm/account.ts'
import { awaitFate } from '../../src/evm/await-fate.ts'
import { fateOf } from '../../src/evm/fate.ts'
import { FUNDS, OUT_OF_ORDER, startTestChain, TAKEN, type TestChain } from './account.ts'

const DEPTH = 3
const RECEIPT = 'eth_getTransactionReceipt'

let chain: TestChain
let account: EvmAccount
let key: Uint8Array
beforeAll(async () => {
  chain = await startTestChain({ finalityDepth: DEPTH })
})
beforeEach(async () => {
  key = await chain.fundedKey()
  account = chain.open(key)
})
afterEach(() => chain.calm())
afterAll(() => chain.stop())

const finalize = () => chain.dev.mine({ blocks: DEPTH })

async function sign(data: `0x${string}` = '0x'): Promise<SignedTransaction> {
  const call = { to: DEV_TREASURY.address, data }
  return account.sign({ ...call, ...(await account.costs(call)) })
}

/** With gas given: nodes estimate none for what must fail. */
async function signWhatFails(): Promise<SignedTransaction> {
  const call = { data: '0x5f5ffd' } as const // PUSH0 PUSH0 REVERT
  return account.sign({ ...call, gas: 100_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n })
}

describe('the fate of a transaction', () => {
  it('T-24 it has landed when its block is final, and not before', async () => {
    const signed = await sign()
    await account.send(signed.raw)
    expect(await fateOf(account, signed)).toEqual({ is: 'may_come' })
    await finalize()
    const { blockNumber, gasUsed, effectiveGasPrice } = await chain.dev.getTransactionReceipt({ hash: signed.tx })
    const landed = { is: 'landed', block: Number(blockNumber), fee_wei: gasUsed * effectiveGasPrice }
    expect(await fateOf(account, signed)).toEqual(landed)
    const spent = FUNDS - (await chain.dev.getBalance({ address: account.address }))
    expect(landed.fee_wei).toBe(spent)
  })

  it('T-24 it has failed when its block is final, and not before', async () => {
    const signed = await signWhatFails()
    await account.send(signed.raw)
    expect(await fateOf(account, signed)).toEqual({ is: 'may_come' })
    await finalize()
    expect(await fateOf(account, signed)).toMatchObject({ is: 'failed', fee_wei: expect.any(BigInt) })
  })

  it('it may come as long as its number is free', async () => {
    const signed = await sign()
    expect(await fateOf(account, signed)).toEqual({ is: 'may_come' })
    await account.send(signed.raw)
    await finalize()
    expect(await fateOf(account, signed)).toMatchObject({ is: 'landed' })
  })

  it('it never comes once another has its number for good', async () => {
    const signed = await sign('0x01')
    await chain.open(key).send((await sign()).raw)
    expect(await fateOf(account, signed)).toEqual({ is: 'may_come' })
    await finalize()
    expect(await fateOf(account, signed)).toEqual({ is: 'never' })
  })

  it('T-24 it may come again when its block is no more', async () => {
    const signed = await sign()
    await account.send(signed.raw)
    await finalize()
    chain.node.behave(withResult(RECEIPT, (receipt: object) => ({ ...receipt, blockHash: `0x${'00'.repeat(32)}` })))
    expect(await fateOf(account, signed)).toEqual({ is: 'may_come' })
  })

  it('what lands between two questions is not said to be lost', async () => {
    const signed = await sign()
    let isSent = false
    chain.node.behave(async ({ method, honest }) => {
      const body = await honest()
      if (!isSent && ['eth_getTransactionCount', RECEIPT].includes(method)) {
        isSent = true
        await chain.dev.sendRawTransaction({ serializedTransaction: signed.raw })
        await finalize()
      }
      return { body }
    })
    expect(await fateOf(account, signed)).toMatchObject({ is: 'landed' })
  })

  it.each<[string, Behaviour]>([
    ['does not answer', withBody(RECEIPT, OUT_OF_ORDER)],
    ['answers without a result', withBody(RECEIPT, '{"jsonrpc":"2.0","id":1}')],
    [
      'tells of another transaction',
      withResult(RECEIPT, (receipt: object) => ({ ...receipt, transactionHash: '0x1' })),
    ],
    ['does not know its outcome', withResult(RECEIPT, (receipt: object) => ({ ...receipt, status: null }))],
    ['does not know its cost', withResult(RECEIPT, (receipt: object) => ({ ...receipt, gasUsed: null }))],
    ['knows no final block', withResult('eth_getBlockByNumber', () => null)],
  ])('is not known from a node that %s', async (_name, behaviour) => {
    const signed = await sign()
    await account.send(signed.raw)
    await finalize()
    chain.node.behave(behaviour)
    await expect(fateOf(account, signed)).rejects.toMatchObject({ why: 'unavailable' })
    expect(await awaitFate(account, signed, 0)).toEqual({ is: 'may_come' })
  })
})

describe('waiting for it', () => {
  it('ends when it is known', async () => {
    const signed = await sign()
    await account.send(signed.raw)
    const waiting = awaitFate(account, signed, 20_000)
    await finalize()
    expect(await waiting).toMatchObject({ is: 'landed' })
  })

  it('ends when nothing is known in time', async () => {
    const signed = await sign()
    chain.node.behave(withBody('eth_sendRawTransaction', TAKEN))
    await account.send(signed.raw)
    expect(await awaitFate(account, signed, 300)).toEqual({ is: 'may_come' })
  })
})
