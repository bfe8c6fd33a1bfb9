import { FINALITY_DEPTH } from '@svc/devnet/evm-chain/chain'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { type Behaviour, withBody, withResult } from '@svc/devnet/faulty-node'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvmAccount, SignedTransaction } from '../../src/evm/account.ts'
import { outcomeOf, watchTransaction } from '../../src/evm/outcome.ts'
import { FUNDS, OUT_OF_ORDER, startTestChain, type TestChain } from './test-chain.ts'

const RECEIPT = 'eth_getTransactionReceipt'

let chain: TestChain
let account: EvmAccount
let key: Uint8Array
beforeAll(async () => {
  chain = await startTestChain()
  await chain.dev.setAutomine(false)
})
beforeEach(async () => {
  key = await chain.fundedKey()
  account = chain.open(key)
})
afterEach(() => chain.calm())
afterAll(() => chain.stop())

const finalize = () => chain.dev.mine({ blocks: 1 + FINALITY_DEPTH })

async function sign(data: `0x${string}` = '0x'): Promise<SignedTransaction> {
  const call = { to: DEV_TREASURY.address, data }
  return account.sign({ ...call, ...(await account.costs(call)) })
}

/** With fixed gas: nodes do not estimate it for a transaction that must fail. */
async function signWhatFails(): Promise<SignedTransaction> {
  const call = { data: '0x5f5ffd' } as const // PUSH0 PUSH0 REVERT
  return account.sign({ ...call, gas: 100_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n })
}

describe('the outcome of a transaction', () => {
  it('T-45 is landed once its block is final, and not before', async () => {
    const signed = await sign()
    await account.send(signed.raw)
    expect(await outcomeOf(account, signed)).toEqual({ outcome: 'pending' })
    await chain.dev.mine({ blocks: 1 })
    expect(await outcomeOf(account, signed)).toEqual({ outcome: 'pending' })
    await finalize()
    const { blockNumber, gasUsed, effectiveGasPrice } = await chain.dev.getTransactionReceipt({ hash: signed.tx })
    const landed = { outcome: 'landed', block: Number(blockNumber), fee_wei: gasUsed * effectiveGasPrice }
    expect(await outcomeOf(account, signed)).toEqual(landed)
    const spent = FUNDS - (await chain.dev.getBalance({ address: account.address }))
    expect(landed.fee_wei).toBe(spent)
  })

  it('T-45 is failed once its block is final, and not before', async () => {
    const signed = await signWhatFails()
    await account.send(signed.raw)
    expect(await outcomeOf(account, signed)).toEqual({ outcome: 'pending' })
    await finalize()
    expect(await outcomeOf(account, signed)).toMatchObject({ outcome: 'failed', fee_wei: expect.any(BigInt) })
  })

  it('is expired once another transaction has used its nonce, finally', async () => {
    const signed = await sign('0x01')
    await chain.open(key).send((await sign()).raw)
    expect(await outcomeOf(account, signed)).toEqual({ outcome: 'pending' })
    await finalize()
    expect(await outcomeOf(account, signed)).toEqual({ outcome: 'expired' })
  })

  it('T-45 is pending again when its block is gone', async () => {
    const signed = await sign()
    await account.send(signed.raw)
    await finalize()
    chain.node.behave(withResult(RECEIPT, (receipt: object) => ({ ...receipt, blockHash: `0x${'00'.repeat(32)}` })))
    expect(await outcomeOf(account, signed)).toEqual({ outcome: 'pending' })
  })

  it('is not expired for a transaction that lands between two queries', async () => {
    const signed = await sign()
    let isSent = false
    chain.node.behave(async ({ method, honest }) => {
      const body = await honest()
      if (!isSent && method === RECEIPT) {
        isSent = true
        await chain.dev.sendRawTransaction({ serializedTransaction: signed.raw })
        await finalize()
      }
      return { body }
    })
    expect(await outcomeOf(account, signed)).toEqual({ outcome: 'pending' })
    expect(await outcomeOf(account, signed)).toMatchObject({ outcome: 'landed' })
  })

  it.each<[string, Behaviour]>([
    ['does not answer', withBody(RECEIPT, OUT_OF_ORDER)],
    ['answers without a result', withBody(RECEIPT, '{"jsonrpc":"2.0","id":1}')],
    ['returns another transaction', withResult(RECEIPT, (receipt: object) => ({ ...receipt, transactionHash: '0x1' }))],
    ['does not know its outcome', withResult(RECEIPT, (receipt: object) => ({ ...receipt, status: null }))],
    ['does not know its cost', withResult(RECEIPT, (receipt: object) => ({ ...receipt, gasUsed: null }))],
    ['knows no final block', withResult('eth_getBlockByNumber', () => null)],
  ])('is unknown when the node %s', async (_name, behaviour) => {
    const signed = await sign()
    await account.send(signed.raw)
    await finalize()
    chain.node.behave(behaviour)
    await expect(outcomeOf(account, signed)).rejects.toMatchObject({ why: 'unavailable' })
    expect(await watchTransaction(account, signed, 0)).toEqual({ outcome: 'pending' })
  })
})

it('T-45 a node that has moved to another chain, where the account has sent more, does not make a transaction expire', async () => {
  const signed = await sign()
  const elsewhere = {
    eth_chainId: '0x1',
    eth_getTransactionCount: '0xff',
    eth_getTransactionByHash: null,
    [RECEIPT]: null,
  }
  chain.node.behave(async ({ method, honest }) => {
    const methods = method.split(' ')
    const moved = (answer: object, i: number) => {
      const result = Object.entries(elsewhere).find(([name]) => name === methods[i])
      return result ? { ...answer, result: result[1] } : answer
    }
    const answers = JSON.parse(await honest()) as object | object[]
    return { body: JSON.stringify(Array.isArray(answers) ? answers.map(moved) : moved(answers, 0)) }
  })
  expect(await outcomeOf(account, signed)).toEqual({ outcome: 'pending' })
  chain.calm()
  expect(await outcomeOf(account, signed)).toEqual({ outcome: 'pending' })
})

it('T-19 T-45 is not expired when a node lags and the node that knows it fails', async () => {
  const lagging = await chain.openWithLag(key)
  const signed = await sign()
  await account.send(signed.raw)
  await finalize()
  chain.node.behave(withBody(RECEIPT, OUT_OF_ORDER))
  expect(await outcomeOf(lagging, signed)).toEqual({ outcome: 'pending' })
})

describe('watching a transaction', () => {
  it('ends when its outcome is known', async () => {
    const signed = await sign()
    await account.send(signed.raw)
    const waiting = watchTransaction(account, signed, 20_000)
    await finalize()
    expect(await waiting).toMatchObject({ outcome: 'landed' })
  })
})
