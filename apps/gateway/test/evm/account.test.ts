import { randomBytes } from 'node:crypto'
import { MULTICALL3 } from '@svc/devnet/evm-chain/contracts'
import { DEV_TREASURY } from '@svc/devnet/evm-chain/dev-accounts'
import { type Behaviour, startFaultyNode, withBody, withResult } from '@svc/devnet/faulty-node'
import { parseTransaction } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createEvmAccount, type EvmAccount, type SignedTransaction } from '../../src/evm/account.ts'
import { Reverted } from '../../src/evm/trouble.ts'
import { FUNDS, OUT_OF_ORDER, startTestChain, TAKEN, type TestChain } from './account.ts'

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
})
afterEach(() => chain.calm())
afterAll(() => chain.stop())

const call = { to: DEV_TREASURY.address, data: '0x1234' } as const

async function signed(account: EvmAccount): Promise<SignedTransaction> {
  return account.sign({ ...call, ...(await account.costs(call)) })
}
const numberOf = ({ raw }: SignedTransaction) => parseTransaction(raw).nonce ?? 0
const landed = async ({ tx }: SignedTransaction) => (await chain.dev.getTransactionReceipt({ hash: tx })).status
const silentOn = (method: string): Behaviour => withBody(method, OUT_OF_ORDER)

describe('an account', () => {
  it('signs without sending, and what is sent is what was signed', async () => {
    const account = chain.open(await chain.fundedKey())
    const one = await signed(account)
    await expect(landed(one)).rejects.toThrow('could not be found')
    expect(await account.send(one.raw)).toBe('sent')
    expect(await landed(one)).toBe('success')
    expect(numberOf(await signed(account))).toBe(1)
  })

  it('numbers on from what it sent while a node does not count what waits', async () => {
    const account = chain.open(await chain.fundedKey())
    chain.node.behave(withResult('eth_getTransactionCount', () => '0x0'))
    const numbers: number[] = []
    for (let turn = 0; turn < 3; turn++) {
      const one = await signed(account)
      numbers.push(numberOf(one))
      await account.send(one.raw)
    }
    expect(numbers).toEqual([0, 1, 2])
  })

  it('says how much it would need', async () => {
    const poor = chain.open(randomBytes(32))
    await expect(signed(poor)).rejects.toMatchObject({
      why: 'unfunded',
      message: expect.stringMatching(`^${poor.address} has 0 of the 0\\.0\\d+ MON`),
    })
  })

  it('tells a contract that says no from a node that does not answer', async () => {
    const account = chain.open(await chain.fundedKey())
    const refused = account.costs({ to: MULTICALL3.address, data: '0xffffffff' })
    await expect(refused).rejects.toBeInstanceOf(Reverted)
    chain.node.behave(silentOn('eth_estimateGas'))
    await expect(account.costs(call)).rejects.toMatchObject({ why: 'unavailable' })
  })
})

describe('sending', () => {
  it('a transaction whose number another one took will never come', async () => {
    const key = await chain.fundedKey()
    const [mine, other] = [chain.open(key), chain.open(key)]
    const late = await signed(mine)
    const first = await other.sign({ to: call.to, data: '0x', ...(await other.costs(call)) })
    expect([numberOf(late), numberOf(first)]).toEqual([0, 0])
    expect(await other.send(first.raw)).toBe('sent')
    expect(await mine.send(late.raw)).toBe('number_taken')
    expect(await mine.canStillCome(late.raw)).toBe(false)
    expect(numberOf(await signed(mine))).toBe(1)
  })

  it('the same where the other one still waits', async () => {
    const key = await chain.fundedKey()
    const [mine, other] = [chain.open(key), chain.open(key)]
    const late = await signed(mine)
    const first = await other.sign({ to: call.to, data: '0x', ...(await other.costs(call)) })
    await chain.dev.setAutomine(false)
    expect(await other.send(first.raw)).toBe('sent')
    expect(await mine.send(late.raw)).toBe('number_taken')
    await chain.dev.setAutomine(true)
    await chain.dev.mine({ blocks: 1 })
    expect(await landed(first)).toBe('success')
  })

  it('again, what is there already was sent: its number is taken by itself', async () => {
    const account = chain.open(await chain.fundedKey())
    const one = await signed(account)
    await account.send(one.raw)
    expect(await account.send(one.raw)).toBe('sent')
    await chain.dev.setAutomine(false)
    const waiting = await signed(account)
    expect(await account.send(waiting.raw)).toBe('sent')
    expect(await account.send(waiting.raw)).toBe('sent')
    await chain.dev.setAutomine(true)
    await chain.dev.mine({ blocks: 1 })
    expect(await landed(waiting)).toBe('success')
  })

  it('while nobody can tell whose the number is, nothing is said to be lost', async () => {
    const account = chain.open(await chain.fundedKey())
    const one = await signed(account)
    await account.send(one.raw)
    chain.node.behave(silentOn('eth_getTransactionByHash'))
    expect(await account.send(one.raw)).toBe('sent')
  })

  it.each([
    ['does not answer', OUT_OF_ORDER],
    ['loses it', TAKEN],
  ])('to a node that %s can be done again', async (_name, answer) => {
    const account = chain.open(await chain.fundedKey())
    const one = await signed(account)
    chain.node.behave(withBody('eth_sendRawTransaction', answer))
    expect(await account.send(one.raw)).toBe('sent')
    chain.calm()
    expect(await account.canStillCome(one.raw)).toBe(true)
    expect(await account.send(one.raw)).toBe('sent')
    expect(await landed(one)).toBe('success')
  })
})

describe('nodes', () => {
  it('T-24 a node of another chain is not asked anything else, and the next one is', async () => {
    const key = await chain.fundedKey()
    const wrong = await startFaultyNode(
      chain.url,
      withResult('eth_chainId', () => '0x1'),
    )
    const lost = createEvmAccount([`${wrong.url}/a-key`], key)
    await expect(lost.balance()).rejects.toMatchObject({
      why: 'unavailable',
      message: `${new URL(wrong.url).host} is a node of chain 1`,
    })
    expect(new Set(wrong.calls)).toEqual(new Set(['eth_chainId']))
    expect(await createEvmAccount([wrong.url, chain.node.url], key).balance()).toBe(FUNDS)
    await wrong.stop()
  })

  it('a node that never ends its answer does not hold anything up for ever', async () => {
    const stalling = await startFaultyNode(chain.url, () => ({ body: '{"jsonrpc":', stalls: true }))
    const account = createEvmAccount([stalling.url, chain.node.url], await chain.fundedKey(), 500)
    await expect.poll(() => account.balance().catch(() => null)).toBe(FUNDS)
    await stalling.stop()
  })

  it('T-12 what goes wrong is told without the key in a node’s address', async () => {
    const account = createEvmAccount([`${chain.node.url}/a-key`], await chain.fundedKey())
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
