import { type Hash, type Hex, parseEther } from 'viem'
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
  running = await startEvmChain({ port: 0, landing: 'at once', ...options })
  return connectAs(DEV_PAYERS[0]!, running.url)
}

/** Signs a payment of one more than the number of the payer. */
async function sign(payer: number, fees: { gas?: bigint } = {}): Promise<Hex> {
  const client = connectAs(DEV_PAYERS[payer]!, running.url)
  return client.signTransaction(await client.prepareTransactionRequest({ to, value: BigInt(payer + 1), ...fees }))
}

/** Without waiting. */
function send(serializedTransaction: Hex): Promise<Hash> {
  return connectAs(DEV_PAYERS[0]!, running.url).sendRawTransaction({ serializedTransaction })
}

async function receiptOf(hash: Hash) {
  const client = connectAs(DEV_PAYERS[0]!, running.url)
  return client.getTransactionReceipt({ hash }).catch(() => null)
}

test('the EVM chain can land transactions immediately and as final, and further blocks add confirmations', async () => {
  const client = await start()
  const hash = await client.sendTransaction({ to, value: 1n })
  expect(await client.getTransactionConfirmations({ hash })).toBe(1n)
  for (const blockTag of ['latest', 'safe', 'finalized'] as const)
    expect((await client.getBlock({ blockTag })).transactions).toEqual([hash])
  await client.mine({ blocks: 5 })
  expect(await client.getTransactionConfirmations({ hash })).toBe(6n)
})

test('the EVM chain lands transactions after its answer, several in a block, and makes them final two blocks later', async () => {
  const client = await start({ landing: 'later', now: () => CLOCK })
  const signed = [await sign(0), await sign(1)]
  const [first, second] = [await send(signed[0]!), await send(signed[1]!)]
  const blockOf = async (hash: Hash) => (await receiptOf(hash))?.blockNumber
  expect(await blockOf(first)).toBeUndefined()
  const block = await blockOf(first)
  expect([block, await blockOf(second)]).toEqual([2n, 2n])
  const numberOf = async (blockTag: 'latest' | 'safe' | 'finalized') => (await client.getBlock({ blockTag })).number
  await running.chain.settle()
  expect([await numberOf('latest'), await numberOf('safe'), await numberOf('finalized')]).toEqual([4n, 3n, 2n])
  expect(await client.getBalance({ address: to, blockTag: 'finalized' })).toBe(3n)
  expect(await client.getLogs({ fromBlock: 'finalized', toBlock: 'finalized' })).toEqual([])
})

test('the EVM chain lands what was sent before the clock moved, at the time when it was sent', async () => {
  let now = CLOCK
  const client = await start({ landing: 'later', now: () => now })
  const hash = await send(await sign(0))
  now += 60_000
  const { blockNumber } = (await receiptOf(hash))!
  expect((await client.getBlock({ blockNumber })).timestamp).toBe(TIME)
  expect((await client.getBlock({ blockTag: 'finalized' })).number).toBe(blockNumber)
  expect((await client.getBlock()).timestamp).toBe(TIME + 60n)
})

test('the EVM chain charges the gas limit', async () => {
  const client = await start({ landing: 'later' })
  const hash = await send(await sign(0, { gas: 60_000n }))
  await running.chain.settle()
  const { gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash })
  expect(gasUsed).toBe(60_000n)
  const { address } = DEV_PAYERS[0]!
  expect(await client.getBalance({ address })).toBe(parseEther('10000') - 1n - gasUsed * effectiveGasPrice)
})

test('after a fork of the EVM chain, transactions are in other blocks, or in none until they are sent again', async () => {
  const client = await start({ landing: 'later', now: () => CLOCK })
  const held = () => client.getBalance({ address: to })
  const final = await send(await sign(0))
  await running.chain.settle()
  const signed = [await sign(0), await sign(1)]
  const [moved, gone] = [await send(signed[0]!), await send(signed[1]!)]
  while (!(await receiptOf(gone)));
  const before = (await receiptOf(moved))!
  await running.chain.fork({ drop: [gone] })
  expect(await receiptOf(moved)).toBeNull()
  await running.chain.settle()
  const after = (await receiptOf(moved))!
  expect([after.blockHash, after.blockNumber]).not.toEqual([before.blockHash, before.blockNumber])
  expect([await receiptOf(gone), await held()]).toEqual([null, 2n])
  expect((await receiptOf(final))?.blockNumber).toBe(2n)
  await send(signed[1]!)
  await running.chain.settle()
  expect([(await receiptOf(gone))?.status, await held()]).toEqual(['success', 4n])
  await running.chain.fork()
  expect(await held()).toBe(4n)
})

test('a node of the EVM chain that is on a fork still shows its blocks', async () => {
  await start({ landing: 'later', now: () => CLOCK })
  const node = connectAs(DEV_PAYERS[0]!, (await running.startNode({ isOnFork: true })).url)
  const hash = await send(await sign(0))
  while (!(await receiptOf(hash)));
  const before = (await receiptOf(hash))!
  await running.chain.fork({ drop: [hash] })
  await running.chain.settle()
  expect(await receiptOf(hash)).toBeNull()
  const { blockHash, blockNumber } = await node.getTransactionReceipt({ hash })
  expect([blockHash, blockNumber]).toEqual([before.blockHash, before.blockNumber])
  expect((await node.getBlock({ blockHash })).transactions).toContain(hash)
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

test('the EVM chain refuses requests that would make blocks without the journal', async () => {
  const client = await start()
  await expect(client.setIntervalMining({ interval: 1 })).rejects.toThrow('mine with evm_mine or hardhat_mine')
})

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}
