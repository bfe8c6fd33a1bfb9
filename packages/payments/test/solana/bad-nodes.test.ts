import { getBase64Decoder, getBase64Encoder } from '@solana/kit'
import { type FaultyNode, startFaultyNode, withBody, withResult } from '@svc/devnet/faulty-node'
import { GENESIS_HASH } from '@svc/devnet/primary-chain/dev-accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSolanaPaymentReader } from '../../src/solana/payment-reader.ts'
import { describeBadNodes } from '../bad-nodes.ts'
import { type Payments, paySol, payUsdc, SOL, startPayments, TO_TREASURY } from './payments.ts'

const TESTNET_GENESIS = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY'

describeBadNodes('Solana', async () => {
  const payments = await startPayments()
  const { payer } = payments.people
  return {
    url: payments.url,
    tx: await payments.send(payer, paySol(payer, SOL)),
    destination: TO_TREASURY,
    chainMethod: 'getGenesisHash',
    otherChain: TESTNET_GENESIS,
    findMethod: 'getTransaction',
    methods: ['getTransaction'],
    createReader: (rpcUrls, timeoutMs) => createSolanaPaymentReader({ rpcUrls, timeoutMs, genesisHash: GENESIS_HASH }),
    startNode: payments.startNode,
    stop: () => payments.stop(),
  }
})

interface Answer {
  transaction: [string, 'base64']
  meta: { preBalances: number[]; postTokenBalances: { uiTokenAmount: { amount: string } }[] }
}

describe('a Solana node that forges its answers', () => {
  let payments: Payments
  let node: FaultyNode
  beforeAll(async () => {
    payments = await startPayments()
    node = await startFaultyNode(payments.url)
  })
  afterAll(async () => {
    await node.stop()
    await payments.stop()
  })

  function read(tx: string, change: (result: Answer) => unknown, destination = TO_TREASURY) {
    node.behave(withResult('getTransaction', change))
    return payments.readerOf({ rpcUrls: [node.url] }).read(tx, destination)
  }
  const problem = (text: string) => ({ outcome: 'unavailable', problem: expect.stringContaining(text) })

  it('T-01 cannot show the body of another transaction', async () => {
    const { payer, other } = payments.people
    const tx = await payments.send(payer, paySol(payer, 1n))
    const larger = await payments.send(other, paySol(other, SOL))
    let body: unknown
    await read(larger, (result) => {
      body = result
      return result
    })
    expect(await read(tx, () => body)).toEqual(problem('a transaction other than the requested one'))
  })

  it.each([
    ['bytes that were not signed', (wire: Uint8Array) => flip(wire, wire.length - 3)],
    ['an invalid second signature', (wire: Uint8Array) => flip(wire, 1 + 64 + 5)],
  ])('T-02 cannot show %s', async (_, change) => {
    const { payer, relay } = payments.people
    const tx = await payments.send(relay, paySol(payer, SOL))
    const lie = ({ transaction: [text], ...rest }: Answer) => {
      const wire = change(Uint8Array.from(getBase64Encoder().encode(text)))
      return { ...rest, transaction: [getBase64Decoder().decode(wire), 'base64'] }
    }
    expect(await read(tx, lie)).toEqual(problem('not signed'))
  })

  it('T-25 cannot show negative balances, or balances of too few accounts', async () => {
    const { payer } = payments.people
    const tx = await payments.send(payer, paySol(payer, SOL))
    const withBalances = (change: (balances: number[]) => number[]) => (result: Answer) => ({
      ...result,
      meta: { ...result.meta, preBalances: change(result.meta.preBalances) },
    })
    const below = withBalances((balances) => balances.with(1, -1))
    expect(await read(tx, below)).toEqual(problem('invalid number'))
    const fewer = withBalances((balances) => balances.slice(1))
    expect(await read(tx, fewer)).toEqual(problem('accounts that the transaction does not have'))
  })

  it('PAY-50 shows neither a failure nor a payment without the outcome of a transaction', async () => {
    const { payer } = payments.people
    const tx = await payments.send(payer, paySol(payer, SOL))
    const lie = (result: Answer) => ({ ...result, meta: { ...result.meta, err: undefined } })
    expect(await read(tx, lie)).toEqual(problem('without its outcome'))
    expect(await read(tx, (result) => ({ ...result, meta: null }))).toEqual(problem('without its effects'))
  })

  it('T-25 cannot show negative token balances', async () => {
    const { payer } = payments.people
    const tx = await payments.send(payer, await payUsdc(payer, 5n, payments.treasuryUsdc))
    const lie = (result: Answer) => {
      for (const balance of result.meta.postTokenBalances) balance.uiTokenAmount.amount = '-5'
      return result
    }
    expect(await read(tx, lie, payments.toTreasuryUsdc)).toEqual(problem('token balance'))
  })

  it('PAY-50 shows no payment with a transaction version that is not supported', async () => {
    const { payer } = payments.people
    const tx = await payments.send(payer, paySol(payer, SOL))
    const message = 'Transaction version (1) is not supported by the requesting client.'
    node.behave(withBody('getTransaction', JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32015, message } })))
    const reader = payments.readerOf({ rpcUrls: [node.url] })
    expect(await reader.read(tx, TO_TREASURY)).toEqual({ outcome: 'rejected', reason: 'wrong_transaction_form' })
  })
})

function flip(bytes: Uint8Array, index: number): Uint8Array {
  return bytes.with(index, bytes[index]! ^ 1)
}
