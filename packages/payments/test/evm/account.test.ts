import { randomBytes } from 'node:crypto'
import { EVM } from '@svc/api/networks'
import { MULTICALL3 } from '@svc/devnet/evm-chain/contracts'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { type Behaviour, startFaultyNode, withBody, withResult } from '@svc/devnet/faulty-node'
import { forAllTests } from '@svc/devnet/for-tests'
import { parseTransaction } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { createEvmAccount, type EvmAccount, type SignedTransaction } from '../../src/evm/account.ts'
import { Reverted } from '../../src/evm/errors.ts'
import { FUNDS, OUT_OF_ORDER, startTestChain, TAKEN } from './test-chain.ts'

const chain = forAllTests(() => startTestChain())
afterEach(() => chain.calm())

const call = { to: DEV_TREASURY.address, data: '0x1234' } as const

async function signed(account: EvmAccount): Promise<SignedTransaction> {
  return account.sign({ ...call, ...(await account.costs(call)) })
}
const nonceOf = ({ raw }: SignedTransaction) => parseTransaction(raw).nonce ?? 0
async function landed({ tx }: SignedTransaction) {
  await chain.settle()
  return (await chain.dev.getTransactionReceipt({ hash: tx })).status
}
const silentOn =
  (wanted: string): Behaviour =>
  async ({ method, honest }) => ({ body: method.includes(wanted) ? OUT_OF_ORDER : await honest() })

describe('an account', () => {
  it('signs without sending, and sends exactly what it signed', async () => {
    const account = chain.open(await chain.fundedKey())
    const one = await signed(account)
    await expect(landed(one)).rejects.toThrow('could not be found')
    expect(await account.send(one.raw)).toBe('sent')
    expect(await landed(one)).toBe('success')
    expect(nonceOf(await signed(account))).toBe(1)
  })

  it('counts its own nonces while a node does not count pending transactions', async () => {
    const account = chain.open(await chain.fundedKey())
    chain.node.behave(withResult('eth_getTransactionCount', () => '0x0'))
    const nonces: number[] = []
    for (let turn = 0; turn < 3; turn++) {
      const one = await signed(account)
      nonces.push(nonceOf(one))
      await account.send(one.raw)
    }
    expect(nonces).toEqual([0, 1, 2])
  })

  it('reports its balance and the cost of a transaction that it cannot afford', async () => {
    const unfunded = chain.open(randomBytes(32))
    await expect(signed(unfunded)).rejects.toMatchObject({
      why: 'unfunded',
      message: expect.stringMatching(`^${unfunded.address} has 0 of the 0\\.0\\d+ MON`),
    })
  })

  it('counts what a transaction pays to its cost', async () => {
    const account = chain.open(await chain.fundedKey())
    const all = { ...call, value: await account.balance() }
    await expect(account.costs(all)).rejects.toMatchObject({ why: 'unfunded' })
    const one = await account.sign({ ...call, value: 1n, ...(await account.costs({ ...call, value: 1n })) })
    expect(parseTransaction(one.raw).value).toBe(1n)
  })

  it('distinguishes a contract that rejects a call from a node that does not answer', async () => {
    const account = chain.open(await chain.fundedKey())
    const refused = account.costs({ to: MULTICALL3.address, data: '0xffffffff' })
    await expect(refused).rejects.toBeInstanceOf(Reverted)
    chain.node.behave(silentOn('eth_estimateGas'))
    await expect(account.costs(call)).rejects.toMatchObject({ why: 'unavailable' })
  })
})

describe('sending a transaction', () => {
  it('reports nonce_taken when another transaction with its nonce has landed', async () => {
    const key = await chain.fundedKey()
    const [mine, other] = [chain.open(key), chain.open(key)]
    const late = await signed(mine)
    const first = await other.sign({ to: call.to, data: '0x', ...(await other.costs(call)) })
    expect([nonceOf(late), nonceOf(first)]).toEqual([0, 0])
    expect(await other.send(first.raw)).toBe('sent')
    await chain.settle()
    expect(await mine.send(late.raw)).toBe('nonce_taken')
    expect(await mine.isLost(late)).toBe(true)
    expect(nonceOf(await signed(mine))).toBe(1)
  })

  it('reports nonce_taken while another transaction with its nonce is pending', async () => {
    const key = await chain.fundedKey()
    const [mine, other] = [chain.open(key), chain.open(key)]
    const late = await signed(mine)
    const first = await other.sign({ to: call.to, data: '0x', ...(await other.costs(call)) })
    expect(await other.send(first.raw)).toBe('sent')
    expect(await mine.send(late.raw)).toBe('nonce_taken')
    expect(await landed(first)).toBe('success')
  })

  it('reports sent for a transaction that is already on chain or pending', async () => {
    const account = chain.open(await chain.fundedKey())
    const one = await signed(account)
    await account.send(one.raw)
    await chain.settle()
    expect(await account.send(one.raw)).toBe('sent')
    const waiting = await signed(account)
    expect(await account.send(waiting.raw)).toBe('sent')
    expect(await account.send(waiting.raw)).toBe('sent')
    expect(await landed(waiting)).toBe('success')
  })

  it('T-19 T-45 reports sent while one node lags and the other reports only that the nonce is used', async () => {
    const key = await chain.fundedKey()
    const [one, lagging] = [await signed(chain.open(key)), await chain.openWithLag(key)]
    await chain.open(key).send(one.raw)
    await chain.settle()
    chain.node.behave(silentOn('eth_getTransactionByHash'))
    expect(await lagging.send(one.raw)).toBe('sent')
  })

  it('reports sent while no node can tell which transaction used the nonce', async () => {
    const account = chain.open(await chain.fundedKey())
    const one = await signed(account)
    await account.send(one.raw)
    chain.node.behave(silentOn('eth_getTransactionByHash'))
    expect(await account.send(one.raw)).toBe('sent')
  })

  it.each([
    ['does not answer', OUT_OF_ORDER],
    ['loses it', TAKEN],
  ])('can be retried after a node %s', async (_name, answer) => {
    const account = chain.open(await chain.fundedKey())
    const one = await signed(account)
    chain.node.behave(withBody('eth_sendRawTransaction', answer))
    expect(await account.send(one.raw)).toBe('sent')
    chain.calm()
    expect(await account.isLost(one)).toBe(false)
    expect(await account.send(one.raw)).toBe('sent')
    expect(await landed(one)).toBe('success')
  })
})

describe('nodes', () => {
  it('T-45 sends a node of another chain no further query, and uses the next node', async () => {
    const key = await chain.fundedKey()
    const wrong = await startFaultyNode(
      chain.url,
      withResult('eth_chainId', () => '0x1'),
    )
    const lost = createEvmAccount(EVM, [`${wrong.url}/a-key`], key)
    await expect(lost.balance()).rejects.toMatchObject({
      why: 'unavailable',
      message: `${new URL(wrong.url).host} is a node of chain 1`,
    })
    expect(new Set(wrong.calls)).toEqual(new Set(['eth_chainId']))
    expect(await createEvmAccount(EVM, [wrong.url, chain.node.url], key).balance()).toBe(FUNDS)
    await wrong.stop()
  })

  it('T-12 reports errors without the key in the address of a node', async () => {
    const account = createEvmAccount(EVM, [`${chain.node.url}/a-key`], await chain.fundedKey())
    const replies = [
      { status: 500, body: 'no' },
      { body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}' },
    ]
    for (const reply of replies) {
      chain.node.behave(() => reply)
      const error = await account.balance().catch((thrown: Error) => thrown)
      expect(error).toMatchObject({ why: 'unavailable' })
      expect(String((error as Error).stack)).not.toContain('a-key')
    }
  })
})
