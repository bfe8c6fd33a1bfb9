import { afterEach, expect, test } from 'vitest'
import { DEV_PAYERS, DEV_TREASURY } from '../../src/evm-chain/dev-accounts.ts'
import { connectAs } from '../../src/evm-chain/dev-client.ts'
import { type EvmChainOptions, type RunningEvmChain, startEvmChain } from '../../src/evm-chain/start.ts'

const to = DEV_TREASURY.address
const CLOCK = Date.parse('2030-01-01T00:00:00Z')
const TIME = BigInt(CLOCK / 1000)
let running: RunningEvmChain

afterEach(() => running.stop())

async function start(options: Partial<EvmChainOptions> = {}) {
  running = await startEvmChain({ port: 0, ...options })
  return connectAs(DEV_PAYERS[0]!, running.url)
}

test('the EVM chain mines every transaction at once, and further blocks add confirmations', async () => {
  const client = await start()
  const hash = await client.sendTransaction({ to, value: 1n })
  expect(await client.getTransactionConfirmations({ hash })).toBe(1n)
  await client.mine({ blocks: 5 })
  expect(await client.getTransactionConfirmations({ hash })).toBe(6n)
})

test('on the EVM chain latest, safe and finalized are the newest block unless a finality depth is set', async () => {
  const client = await start()
  await client.mine({ blocks: 3 })
  for (const blockTag of ['latest', 'safe', 'finalized'] as const) {
    expect((await client.getBlock({ blockTag })).number).toBe(4n)
  }
})

test('on the EVM chain with a finality depth, a payment becomes final when enough blocks follow', async () => {
  const client = await start({ finalityDepth: 2 })
  const before = await client.getBalance({ address: to })
  const hash = await client.sendTransaction({ to, value: 9n })
  const { blockNumber } = await client.getTransactionReceipt({ hash })
  const numberOf = async (blockTag: 'latest' | 'safe' | 'finalized') => (await client.getBlock({ blockTag })).number
  expect(await Promise.all([numberOf('latest'), numberOf('safe')])).toEqual([blockNumber, blockNumber - 1n])
  expect(await numberOf('finalized')).toBeLessThan(blockNumber)
  expect(await client.getBalance({ address: to, blockTag: 'finalized' })).toBe(before)
  await client.mine({ blocks: 2 })
  expect(await numberOf('finalized')).toBe(blockNumber)
  expect(await client.getBalance({ address: to, blockTag: 'finalized' })).toBe(before + 9n)
  expect(await client.getLogs({ fromBlock: 'finalized', toBlock: 'finalized' })).toEqual([])
})

test('on the EVM chain without automine, a transaction waits in the pool and has no receipt', async () => {
  const client = await start()
  await client.setAutomine(false)
  const hash = await client.sendTransaction({ to, value: 3n })
  expect(await client.getTransaction({ hash })).toMatchObject({ blockNumber: null })
  expect(await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })).toBeNull()
  await client.mine({ blocks: 1 })
  expect((await client.getTransactionReceipt({ hash })).status).toBe('success')
})

test('block times of the EVM chain follow the clock, even with many blocks in a second', async () => {
  const client = await start({ now: () => CLOCK })
  for (const value of [1n, 2n, 3n]) await client.sendTransaction({ to, value })
  expect((await client.getBlock()).timestamp).toBe(TIME)
})

test('the EVM chain follows real time when no clock is given', async () => {
  const before = BigInt(Math.floor(Date.now() / 1000))
  const client = await start()
  await client.sendTransaction({ to, value: 1n })
  const { timestamp } = await client.getBlock()
  expect(timestamp >= before && timestamp <= BigInt(Math.ceil(Date.now() / 1000))).toBe(true)
})

test('a pinned time applies to one block of the EVM chain, and an increase applies to all later blocks', async () => {
  const client = await start({ now: () => CLOCK })
  const timeOfNext = async () => {
    await client.sendTransaction({ to, value: 1n })
    return (await client.getBlock()).timestamp - TIME
  }
  await client.increaseTime({ seconds: 60 })
  expect(await timeOfNext()).toBe(60n)
  await client.setNextBlockTimestamp({ timestamp: TIME + 61n })
  expect(await timeOfNext()).toBe(61n)
  await client.increaseTime({ seconds: 40 })
  expect(await timeOfNext()).toBe(100n)
  await expect(client.setNextBlockTimestamp({ timestamp: TIME })).rejects.toThrow('lower than the previous block')
  await expect(running.chain.request({ method: 'evm_increaseTime', params: [-1] })).rejects.toThrow(
    'whole number of seconds',
  )
  expect(await timeOfNext()).toBe(100n)
})

test('a call on the latest EVM block sees the present time, even when that block is old', async () => {
  let now = CLOCK
  const client = await start({ now: () => now })
  const timestampOpcode = '0x4260005260206000f3'
  await client.setCode({ address: to, bytecode: timestampOpcode })
  const oldBlock = await client.getBlockNumber()
  now += 3_600_000
  expect((await client.call({ to })).data).toBe(word(TIME + 3600n))
  expect((await client.call({ to, blockNumber: oldBlock })).data).toBe(word(TIME))
  expect(await client.getBlockNumber()).toBe(oldBlock)
})

test('reverting to a snapshot restores the EVM chain', async () => {
  const client = await start()
  const before = await client.getBlock()
  const id = await client.snapshot()
  await client.sendTransaction({ to, value: 5n })
  await client.revert({ id })
  expect((await client.getBlock()).hash).toBe(before.hash)
  expect(await client.getBalance({ address: to })).toBe(0n)
})

test('the EVM chain refuses requests that would make blocks without the journal', async () => {
  const client = await start()
  await expect(client.setIntervalMining({ interval: 1 })).rejects.toThrow('mine with evm_mine or hardhat_mine')
})

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}
