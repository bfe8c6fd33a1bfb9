import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { erc20Abi } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openChain } from '../../src/evm-chain/chain.ts'
import { FIXTURES, TOKENS } from '../../src/evm-chain/contracts.ts'
import { DEV_PAYERS, DEV_TREASURY } from '../../src/evm-chain/dev-accounts.ts'
import { connectAs, type DevClient } from '../../src/evm-chain/dev-client.ts'
import { startEvmChain } from '../../src/evm-chain/start.ts'
import { startProcess } from '../../src/start-process.ts'

const to = DEV_TREASURY.address
const payer = DEV_PAYERS[0]!
let folder: string
let stateFile: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'evm-chain-'))
  stateFile = join(folder, 'evm-chain.jsonl')
})

afterEach(() => rmSync(folder, { recursive: true }))

/** Starts the chain on the state file, calls `use`, and stops the chain. */
async function session<T>(use: (client: DevClient) => Promise<T>, now = Date.now): Promise<T> {
  const running = await startEvmChain({ port: 0, landing: 'at once', stateFile, now })
  return use(connectAs(payer, running.url)).finally(running.stop)
}

/** Everything that a client can read about the chain's past. */
async function everything(client: DevClient) {
  const blocks = []
  for (let number = await client.getBlockNumber(); number >= 0n; number--) {
    blocks.push(await client.getBlock({ blockNumber: number, includeTransactions: true }))
  }
  const hashes = blocks.flatMap((block) => block.transactions.map(({ hash }) => hash))
  const receipts = await Promise.all(hashes.map((hash) => client.getTransactionReceipt({ hash })))
  return { blocks, receipts, balance: await client.getBalance({ address: to }) }
}

/** Makes one change of each kind, with refused requests and reads in between. */
async function makeChanges(client: DevClient) {
  await client.sendTransaction({ to, value: 5n })
  await client.writeContract({ address: TOKENS.USDC.address, abi: erc20Abi, functionName: 'transfer', args: [to, 7n] })
  await client.sendTransaction({ data: FIXTURES.forwarder.initCode })
  await client.sendTransaction({ to: TOKENS.USDC.address, value: 1n, gas: 50_000n })
  await expect(client.sendRawTransaction({ serializedTransaction: '0x02' })).rejects.toThrow()
  await client.faucet(to, 'WETH', 2)
  await client.increaseTime({ seconds: 1000 })
  await client.mine({ blocks: 3, interval: 12 })
  const id = await client.snapshot()
  await client.mine({ blocks: 2 })
  await client.revert({ id })
  await client.setBalance({ address: to, value: 10n ** 18n })
  await client.setAutomine(false)
  await client.sendTransaction({ to, value: 11n })
  await client.sendTransaction({ to, value: 12n })
  await client.mine({ blocks: 1 })
  await client.setAutomine(true)
}

test('a restarted EVM chain keeps its block times and continues at the time of the new clock', async () => {
  const day = 86_400_000
  const start = Date.parse('2030-01-01T00:00:00Z')
  const first = await session(
    (client) => client.sendTransaction({ to, value: 5n }),
    () => start,
  )
  const second = await session(
    (client) => client.sendTransaction({ to, value: 6n }),
    () => start + day,
  )
  await session(async (client) => {
    const times = []
    for (const hash of [first, second]) {
      const { blockNumber } = await client.getTransactionReceipt({ hash })
      times.push(Number((await client.getBlock({ blockNumber })).timestamp) * 1000)
    }
    expect(times).toEqual([start, start + day])
    expect(await client.getBalance({ address: to })).toBe(11n)
  })
})

test('an EVM chain loses nothing that it acknowledged when it is killed', { tags: ['nightly'] }, async () => {
  const program = new URL('../../src/evm-chain/main.ts', import.meta.url)
  const chain = startProcess(program, { env: { DATA_DIR: folder, DEV_EVM_RPC_PORT: '0' } })
  const [url] = await chain.waitForLine(/http:\S+\d/)
  const client = connectAs(payer, url)
  await makeChanges(client)
  const before = await everything(client)
  await chain.kill()
  expect(await session(everything)).toEqual(before)
})

test('a restarted EVM chain may start before it has its blocks again: requests wait for them', {
  tags: ['nightly'],
}, async () => {
  const before = await session(async (client) => {
    await makeChanges(client)
    return everything(client)
  })
  const running = await startEvmChain({ port: 0, landing: 'at once', stateFile, replayInBackground: true })
  const after = await everything(connectAs(payer, running.url)).finally(running.stop)
  expect(after).toEqual(before)
})

test('a request that waits for the blocks of an EVM chain fails when the chain is stopped, and changes nothing', async () => {
  await session(makeChanges)
  const stored = readFileSync(stateFile, 'utf8')
  const chain = await openChain({ stateFile, landing: 'at once' })
  const waiting = expect(chain.request({ method: 'evm_mine' })).rejects.toThrow('the chain is stopped')
  await chain.close()
  await waiting
  expect(readFileSync(stateFile, 'utf8')).toBe(stored)
})

test('an EVM chain drops the incomplete last line that a crash left, and continues', async () => {
  await session((client) => client.sendTransaction({ to, value: 5n }))
  appendFileSync(stateFile, '{"method":"eth_sendRawTransaction","params":["0x02f8')
  await session(async (client) => {
    expect(await client.getBalance({ address: to })).toBe(5n)
    await client.sendTransaction({ to, value: 6n })
  })
  expect(await session((client) => client.getBalance({ address: to }))).toBe(11n)
})

test.each([
  ['with a broken line in the middle', (lines: string[]) => [lines[0], '{', ...lines.slice(1)], 'line 2, is not JSON'],
  ['with other content', () => ['{"hello":"world"}'], 'not a journal of this chain'],
  [
    'with a changed past',
    (lines: string[]) => lines.toSpliced(-3, 1),
    'was written on blocks that this version does not make',
  ],
])('an EVM chain refuses a journal %s without changing it, and suggests what to do', async (_, change, message) => {
  await session(async (client) => {
    await client.sendTransaction({ to, value: 5n })
    await client.sendTransaction({ to, value: 6n })
  })
  const changed = change(readFileSync(stateFile, 'utf8').split('\n')).join('\n')
  writeFileSync(stateFile, changed)
  await expect(startEvmChain({ port: 0, landing: 'at once', stateFile })).rejects.toThrow(message)
  expect(readFileSync(stateFile, 'utf8')).toBe(changed)
})
