import { erc20Abi, getAddress, parseEther, parseEventLogs, parseUnits, TransactionReceiptNotFoundError } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FIXTURES, MINT_ABI, MULTICALL3, TOKENS } from '../../src/evm-chain/contracts.ts'
import { DEV_PAYERS, DEV_TREASURY } from '../../src/evm-chain/dev-accounts.ts'
import { connectAs, type DevClient } from '../../src/evm-chain/dev-client.ts'
import { type RunningEvmChain, startEvmChain } from '../../src/evm-chain/start.ts'

const treasury = DEV_TREASURY.address
const payer = DEV_PAYERS[0]!
let running: RunningEvmChain
let client: DevClient

beforeAll(async () => {
  running = await startEvmChain({ port: 0 })
  client = connectAs(payer, running.url)
})

afterAll(() => running.stop())

test('the EVM chain has the chain id 143', async () => {
  expect(await client.getChainId()).toBe(143)
  expect(await client.request({ method: 'net_version' })).toBe('143')
  expect(await client.request({ method: 'web3_clientVersion' })).toMatch(/^edr\//)
})

test('on the EVM chain the payers start with every asset and the treasury starts with none', async () => {
  for (const { address } of DEV_PAYERS) {
    expect(await client.getBalance({ address })).toBe(parseEther('10000'))
    for (const { address: token, decimals } of Object.values(TOKENS)) {
      expect(await balanceOf(token, address)).toBe(parseUnits('10000', decimals))
    }
  }
  expect(await client.getBalance({ address: treasury })).toBe(0n)
})

test.each([
  ['USDC', 'USDC', 6],
  ['USDT0', 'USDT0', 6],
  ['WETH', 'Wrapped Ether', 18],
] as const)('the EVM token %s has its real name and decimals', async (ticker, name, decimals) => {
  const contract = { address: TOKENS[ticker].address, abi: erc20Abi }
  expect(await client.readContract({ ...contract, functionName: 'symbol' })).toBe(ticker)
  expect(await client.readContract({ ...contract, functionName: 'name' })).toBe(name)
  expect(await client.readContract({ ...contract, functionName: 'decimals' })).toBe(decimals)
})

test('a native payment on the EVM chain has a receipt and changes the balance', async () => {
  const before = await client.getBalance({ address: treasury })
  const hash = await client.sendTransaction({ to: treasury, value: parseEther('1.5') })
  const receipt = await client.waitForTransactionReceipt({ hash })
  expect(receipt).toMatchObject({ status: 'success', from: payer.address.toLowerCase(), to: treasury.toLowerCase() })
  expect(await client.getTransaction({ hash })).toMatchObject({ value: parseEther('1.5'), chainId: 143 })
  expect(await client.getBalance({ address: treasury })).toBe(before + parseEther('1.5'))
})

test('a token payment on the EVM chain emits one Transfer log of the token', async () => {
  const { address } = TOKENS.USDC
  const hash = await client.writeContract({ address, abi: erc20Abi, functionName: 'transfer', args: [treasury, 25n] })
  const { logs, status } = await client.getTransactionReceipt({ hash })
  expect(status).toBe('success')
  expect(parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs })).toMatchObject([
    { address: address.toLowerCase(), args: { from: payer.address, to: treasury, value: 25n } },
  ])
  expect(await balanceOf(address, treasury)).toBe(25n)
  const found = await client.getContractEvents({
    address,
    abi: erc20Abi,
    eventName: 'Transfer',
    args: { to: treasury },
    fromBlock: 0n,
  })
  expect(found.map((log) => log.transactionHash)).toEqual([hash])
})

test('an approved spender can transfer EVM tokens within the allowance', async () => {
  const { address } = TOKENS.WETH
  const spender = connectAs(DEV_PAYERS[1]!, running.url)
  await client.writeContract({ address, abi: erc20Abi, functionName: 'approve', args: [spender.account.address, 10n] })
  const pull = { address, abi: erc20Abi, functionName: 'transferFrom', args: [payer.address, treasury, 7n] } as const
  await spender.writeContract(pull)
  expect(await balanceOf(address, treasury)).toBe(7n)
  await expect(spender.simulateContract(pull)).rejects.toThrow('ERC20: transfer amount exceeds allowance')
})

test('a reverted EVM transaction is mined and readable with its value, and changes nothing', async () => {
  const before = await balanceOf(TOKENS.USDC.address, treasury)
  const tooMuch = { abi: erc20Abi, functionName: 'transfer', args: [treasury, 10n ** 30n] } as const
  const token = await client.writeContract({ ...tooMuch, address: TOKENS.USDC.address, gas: 100_000n })
  expect(await client.getTransactionReceipt({ hash: token })).toMatchObject({ status: 'reverted', logs: [] })
  expect(await balanceOf(TOKENS.USDC.address, treasury)).toBe(before)

  const native = await client.sendTransaction({ to: TOKENS.USDC.address, value: 1n, gas: 100_000n })
  expect(await client.getTransactionReceipt({ hash: native })).toMatchObject({ status: 'reverted' })
  expect((await client.getTransaction({ hash: native })).value).toBe(1n)
  expect(await client.getBalance({ address: TOKENS.USDC.address })).toBe(0n)
})

test('a reverted EVM call or estimate is an error that contains the reason', async () => {
  const tooMuch = {
    address: TOKENS.USDC.address,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [treasury, 10n ** 30n],
  } as const
  await expect(client.simulateContract(tooMuch)).rejects.toThrow('ERC20: transfer amount exceeds balance')
  await expect(client.estimateContractGas(tooMuch)).rejects.toThrow('ERC20: transfer amount exceeds balance')
})

test('a multicall reads many values from the EVM chain in one request', async () => {
  const contracts = Object.values(TOKENS).map(
    ({ address }) => ({ address, abi: erc20Abi, functionName: 'decimals' }) as const,
  )
  const results = await client.multicall({ contracts, multicallAddress: MULTICALL3.address, allowFailure: false })
  expect(results).toEqual([6, 6, 18])
})

test('only the minter can mint EVM tokens', async () => {
  const mint = { address: TOKENS.USDC.address, abi: MINT_ABI, functionName: 'mint', args: [payer.address, 1n] } as const
  await expect(client.simulateContract(mint)).rejects.toThrow('only the development minter mints')
})

test('a fake EVM token can emit a Transfer without a payment', async () => {
  const { abi, initCode } = FIXTURES.fakeToken
  const address = await deploy(initCode)
  const before = await balanceOf(TOKENS.USDC.address, treasury)
  const hash = await client.writeContract({
    address,
    abi,
    functionName: 'emitTransfer',
    args: [payer.address, treasury, 99n],
  })
  const { logs, status } = await client.getTransactionReceipt({ hash })
  expect(status).toBe('success')
  const [log] = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs })
  expect(log?.args).toEqual({ from: payer.address, to: treasury, value: 99n })
  expect(getAddress(log!.address)).toBe(address)
  expect(await balanceOf(TOKENS.USDC.address, treasury)).toBe(before)
})

test('an internal native transfer on the EVM chain has no log, and its transaction has another `to`', async () => {
  const { abi, initCode } = FIXTURES.forwarder
  const address = await deploy(initCode)
  const before = await client.getBalance({ address: treasury })
  const hash = await client.writeContract({ address, abi, functionName: 'forward', args: [treasury], value: 12n })
  const receipt = await client.getTransactionReceipt({ hash })
  expect(receipt).toMatchObject({ status: 'success', logs: [], to: address.toLowerCase() })
  expect(await client.getBalance({ address: treasury })).toBe(before + 12n)
})

test('an unknown hash has neither a transaction nor a receipt on the EVM chain', async () => {
  const hash = `0x${'ab'.repeat(32)}` as const
  expect(await client.request({ method: 'eth_getTransactionByHash', params: [hash] })).toBeNull()
  expect(await client.request({ method: 'eth_getTransactionReceipt', params: [hash] })).toBeNull()
  await expect(client.getTransactionReceipt({ hash })).rejects.toThrow(TransactionReceiptNotFoundError)
})

test('the EVM chain refuses a transaction that is signed for another chain or with a used nonce', async () => {
  const request = {
    to: treasury,
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
    type: 'eip1559',
  } as const
  const foreign = await client.account.signTransaction({ ...request, chainId: 1, nonce: 1000 })
  await expect(client.sendRawTransaction({ serializedTransaction: foreign })).rejects.toThrow(/chain ?id/i)
  const used = await client.account.signTransaction({ ...request, chainId: 143, nonce: 0 })
  await expect(client.sendRawTransaction({ serializedTransaction: used })).rejects.toThrow(/nonce/i)
})

function balanceOf(address: `0x${string}`, owner: `0x${string}`): Promise<bigint> {
  return client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [owner] })
}

async function deploy(initCode: `0x${string}`): Promise<`0x${string}`> {
  const hash = await client.sendTransaction({ data: initCode })
  const { contractAddress } = await client.getTransactionReceipt({ hash })
  return getAddress(contractAddress!)
}
