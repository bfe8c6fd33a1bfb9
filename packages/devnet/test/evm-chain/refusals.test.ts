import { forAllTests } from '@svc/devnet/for-tests'
import { erc20Abi, type Hex, parseAbi, parseEther, parseSignature, RpcRequestError } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { MINT_ABI, TOKENS } from '../../src/evm-chain/contracts.ts'
import { DEV_PAYERS, DEV_TREASURY } from '../../src/evm-chain/dev-accounts.ts'
import { connectAs } from '../../src/evm-chain/dev-client.ts'
import { startEvmChain } from '../../src/evm-chain/start.ts'

const TIME = 1_893_456_000n
const treasury = DEV_TREASURY.address
const running = forAllTests(() => startEvmChain({ port: 0, now: () => Number(TIME) * 1000 }))
const connect = (payer: number) => connectAs(DEV_PAYERS[payer]!, running.url)

const { address } = TOKENS.USDC
const word = 'uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce'
const usdc = {
  address,
  abi: [
    ...erc20Abi,
    ...MINT_ABI,
    ...parseAbi([
      `function transferWithAuthorization(address from, address to, ${word}, bytes signature)`,
      `function transferWithAuthorization(address from, address to, ${word}, uint8 v, bytes32 r, bytes32 s)`,
    ]),
  ],
} as const

describe('the EVM chain', () => {
  const request = (method: string, params: unknown[] = []) => ({ jsonrpc: '2.0', id: 7, method, params })
  const error = (code: number, id: number | null = null) => ({
    jsonrpc: '2.0',
    id,
    error: { code, message: expect.any(String) },
  })
  const post = async (body: string) => (await fetch(running.url, { method: 'POST', body })).json()

  it('answers a batch in order, with results and errors', async () => {
    const batch = [request('eth_chainId'), request('eth_nothing'), null]
    expect(await post(JSON.stringify(batch))).toEqual([
      { jsonrpc: '2.0', id: 7, result: '0x8f' },
      error(-32004, 7),
      error(-32600),
    ])
  })

  it.each([
    ['invalid JSON', '{"jsonrpc":', -32700],
    ['an empty batch', '[]', -32600],
    ['another JSON-RPC version', '{"jsonrpc":"1.0","id":1,"method":"eth_chainId","params":[]}', -32600],
    ['a request without an id', '{"jsonrpc":"2.0","method":"eth_chainId"}', -32600],
    ['a body that is too long', `"${'x'.repeat(9_000_000)}"`, -32700],
  ])('refuses %s', async (_, body, code) => {
    expect(await post(body)).toEqual(error(code))
  })

  it.each([
    ['hardhat_reset', [], -32004],
    ['toString', [], -32004],
    ['eth_getBlockByNumber', ['newest', false], -32602],
    ['eth_getTransactionReceipt', ['0x12'], -32602],
    ['eth_sendRawTransaction', ['0x00'], -32602],
    ['evm_increaseTime', ['soon'], -32602],
  ])('refuses %s with %j', async (method, params, code) => {
    expect(await post(JSON.stringify(request(method, params)))).toEqual(error(code, 7))
  })

  it('refuses a transaction that is signed for another chain or with a used nonce', async () => {
    const client = connect(0)
    await client.sendTransaction({ to: treasury, value: 1n })
    const fees = { gas: 21_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, type: 'eip1559' } as const
    const sent = async (chainId: number, nonce: number) => {
      const signed = await client.account.signTransaction({ ...fees, to: treasury, value: 1n, chainId, nonce })
      return client.sendRawTransaction({ serializedTransaction: signed })
    }
    await expect(sent(1, 1000)).rejects.toThrow(/chain ?id/i)
    await expect(sent(143, 0)).rejects.toThrow(/nonce/i)
  })

  it('mines a reverted transaction, which is readable with its value and changes nothing', async () => {
    const client = connect(2)
    const held = () => client.readContract({ ...usdc, functionName: 'balanceOf', args: [client.account.address] })
    const before = await held()
    const tooMuch = { ...usdc, functionName: 'transfer', args: [treasury, 10n ** 30n], gas: 100_000n } as const
    const token = await client.writeContract(tooMuch)
    expect(await client.getTransactionReceipt({ hash: token })).toMatchObject({ status: 'reverted', logs: [] })
    expect(await held()).toBe(before)

    const native = await client.sendTransaction({ to: address, value: 1n, gas: 100_000n })
    expect(await client.getTransactionReceipt({ hash: native })).toMatchObject({ status: 'reverted' })
    expect((await client.getTransaction({ hash: native })).value).toBe(1n)
    expect(await client.getBalance({ address })).toBe(0n)
  })

  it('lets nobody but the minter mint tokens', async () => {
    const mint = { ...usdc, functionName: 'mint', args: [treasury, 1n] } as const
    await expect(connect(0).simulateContract(mint)).rejects.toThrow('only the development minter mints')
  })
})

describe('the EVM faucet', () => {
  it('grants MON to many accounts at the same time', async () => {
    const owner = privateKeyToAddress(generatePrivateKey())
    await Promise.all(Array.from({ length: 20 }, () => connect(0).faucet(owner, 'MON', '1.5')))
    expect(await connect(0).getBalance({ address: owner })).toBe(parseEther('30'))
  })

  it.each([
    ['USDC', 25.5, 25_500_000n],
    ['WETH', '0.000000000000000001', 1n],
  ] as const)('mints %s', async (asset, amount, units) => {
    const owner = privateKeyToAddress(generatePrivateKey())
    await connect(0).faucet(owner, asset, amount)
    const balance = { ...usdc, address: TOKENS[asset].address, functionName: 'balanceOf', args: [owner] } as const
    expect(await connect(0).readContract(balance)).toBe(units)
  })

  it.each([
    [[treasury, 'USDC'], 'three parameters'],
    [['0x1234', 'USDC', '1'], 'address must be'],
    [[treasury, 'toString', '1'], `asset must be one of ${['MON', ...Object.keys(TOKENS)].join(', ')}`],
    [[treasury, 'USDC', '-1'], 'amount must be a decimal number'],
    [[treasury, 'USDC', '0.0000001'], 'USDC has 6 decimals'],
    [[treasury, 'USDC', '0'], 'above 0'],
    [[treasury, 'MON', '1000000001'], 'at most 1000000000 MON'],
  ])('refuses %j and suggests what to do', async (params, message) => {
    const refusal = await connect(0)
      .faucet(...params)
      .catch((caught: Error) => caught)
    const cause = (refusal as RpcRequestError).walk((caught) => caught instanceof RpcRequestError)
    expect(cause).toMatchObject({ code: -32602, details: expect.stringContaining(message) })
  })
})

describe('an authorization of USDC', () => {
  const value = 40n
  const window = { validAfter: TIME - 600n, validBefore: TIME + 60n }
  const authorize = (nonce: number, changes: Partial<typeof window & { value: bigint }> = {}) => {
    const from = DEV_PAYERS[0]!.address
    return { from, to: treasury, value, ...window, nonce: `0x${`${nonce}`.padStart(64, '0')}` as Hex, ...changes }
  }
  type Authorization = ReturnType<typeof authorize>

  function sign(message: Authorization, primaryType = 'TransferWithAuthorization') {
    const domain = { name: 'USDC', version: '2', chainId: 143, verifyingContract: address } as const
    const fields = ['address from', 'address to', ...word.split(', ')].map((field) => {
      const [type, name] = field.split(' ')
      return { type: type!, name: name! }
    })
    return connect(0).signTypedData({ domain, types: { [primaryType]: fields }, primaryType, message })
  }
  const transfer = ({ from, to, value, validAfter, validBefore, nonce }: Authorization, signature: Hex) => {
    const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
    return { ...usdc, functionName: 'transferWithAuthorization', args } as const
  }

  it('can be used once by a relayer, and a replay reverts', async () => {
    const relayer = connect(1)
    const message = authorize(1)
    const call = transfer(message, await sign(message))
    const { r, s, yParity } = parseSignature(call.args[6])
    const inParts = { ...call, args: [...call.args.slice(0, 6), 27 + yParity, r, s] as never }
    const outcome = async (hash: Hex) => (await relayer.getTransactionReceipt({ hash })).status
    expect(await outcome(await relayer.writeContract(inParts))).toBe('success')
    expect(await relayer.readContract({ ...usdc, functionName: 'balanceOf', args: [treasury] })).toBe(value)
    expect(await outcome(await relayer.writeContract({ ...call, gas: 200_000n }))).toBe('reverted')
    await expect(relayer.simulateContract(call)).rejects.toThrow('FiatTokenV2: authorization is used or canceled')
  })

  it.each([
    ['not yet valid', { validAfter: TIME }, 'FiatTokenV2: authorization is not yet valid'],
    ['expired', { validBefore: TIME }, 'FiatTokenV2: authorization is expired'],
    ['beyond the balance', { value: 10n ** 20n }, 'ERC20: transfer amount exceeds balance'],
  ])('is refused if it is %s', async (_, changes, reason) => {
    const message = authorize(3, changes)
    await expect(connect(1).simulateContract(transfer(message, await sign(message)))).rejects.toThrow(reason)
  })

  it('is refused if its signature covers another amount or another type', async () => {
    const message = authorize(4)
    const other = await sign({ ...message, value: 41n })
    const receive = await sign(message, 'ReceiveWithAuthorization')
    for (const signature of [other, receive, '0x1234'] as const) {
      const using = connect(1).simulateContract(transfer(message, signature))
      await expect(using).rejects.toThrow('FiatTokenV2: invalid signature')
    }
  })
})
