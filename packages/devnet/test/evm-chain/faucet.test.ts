import { erc20Abi, parseEther, RpcRequestError } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TOKENS } from '../../src/evm-chain/contracts.ts'
import { DEV_MINTER, DEV_PAYERS } from '../../src/evm-chain/dev-accounts.ts'
import { connectAs, type DevClient } from '../../src/evm-chain/dev-client.ts'
import { type RunningEvmChain, startEvmChain } from '../../src/evm-chain/start.ts'

const payer = DEV_PAYERS[0]!.address
let running: RunningEvmChain
let client: DevClient

beforeAll(async () => {
  running = await startEvmChain({ port: 0 })
  client = connectAs(DEV_PAYERS[0]!, running.url)
})

afterAll(() => running.stop())

function newAddress() {
  return privateKeyToAddress(generatePrivateKey())
}

test('the EVM faucet grants MON by a native transfer', async () => {
  const address = newAddress()
  const hash = await client.faucet(address, 'MON', '1.5')
  expect(await client.getTransaction({ hash })).toMatchObject({
    from: DEV_MINTER.address.toLowerCase(),
    value: parseEther('1.5'),
  })
  expect(await client.getBalance({ address })).toBe(parseEther('1.5'))
})

test.each([
  ['USDC', '0.000001', 1n],
  ['USDC', 25.5, 25_500_000n],
  ['USDT0', 3, 3_000_000n],
  ['WETH', '0.000000000000000001', 1n],
  ['WETH', '1000000000', 10n ** 27n],
] as const)('the EVM faucet grants %s by a mint (amount: %s)', async (asset, amount, units) => {
  const owner = newAddress()
  const hash = await client.faucet(owner, asset, amount)
  const { status, logs } = await client.getTransactionReceipt({ hash })
  expect({ status, logs: logs.length }).toEqual({ status: 'success', logs: 1 })
  const balance = { address: TOKENS[asset].address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] } as const
  expect(await client.readContract(balance)).toBe(units)
})

test('the EVM faucet grants many concurrent requests', async () => {
  const address = newAddress()
  const hashes = await Promise.all(Array.from({ length: 20 }, () => client.faucet(address, 'MON', 1)))
  expect(new Set(hashes).size).toBe(20)
  expect(await client.getBalance({ address })).toBe(parseEther('20'))
})

test.each([
  [[], 'three parameters'],
  [[payer, 'USDC'], 'three parameters'],
  [[payer, 'USDC', '1', 'extra'], 'three parameters'],
  [['0x1234', 'USDC', '1'], 'address must be'],
  [[5, 'USDC', '1'], 'address must be'],
  [[payer, 'SOL', '1'], 'asset must be one of MON, USDC, USDT0, WETH'],
  [[payer, 'usdc', '1'], 'asset must be one of'],
  [[payer, 'toString', '1'], 'asset must be one of'],
  [[payer, 'USDC', 'lots'], 'amount must be a decimal number'],
  [[payer, 'USDC', '-1'], 'amount must be a decimal number'],
  [[payer, 'USDC', 1e-7], 'amount must be a decimal number'],
  [[payer, 'USDC', null], 'amount must be a decimal number'],
  [[payer, 'USDC', '0.0000001'], 'USDC has 6 decimals'],
  [[payer, 'USDC', '0'], 'above 0'],
  [[payer, 'MON', '1000000001'], 'at most 1000000000 MON'],
])('the EVM faucet refuses %j and says what to do', async (params, message) => {
  const block = await client.getBlockNumber()
  const refusal = await client.faucet(...params).catch((error: Error) => error)
  const cause = (refusal as RpcRequestError).walk((error) => error instanceof RpcRequestError)
  expect(cause).toMatchObject({ code: -32602, details: expect.stringContaining(message) })
  expect(await client.getBlockNumber()).toBe(block)
})
