import { type Hex, parseAbi, parseSignature } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TOKENS } from '../../src/evm-chain/contracts.ts'
import { DEV_PAYERS, DEV_TREASURY } from '../../src/evm-chain/dev-accounts.ts'
import { connectAs, type DevClient } from '../../src/evm-chain/dev-client.ts'
import { type RunningEvmChain, startEvmChain } from '../../src/evm-chain/start.ts'

const { address } = TOKENS.USDC
const domain = { name: 'USDC', version: '2', chainId: 143, verifyingContract: address } as const
const authorization = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const
const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)',
  'function nonces(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function balanceOf(address owner) view returns (uint256)',
])
const usdc = { address, abi } as const
const CLOCK = Date.parse('2030-01-01T00:00:00Z')
const TIME = BigInt(CLOCK / 1000)

let running: RunningEvmChain
let payer: DevClient
let relayer: DevClient

beforeAll(async () => {
  running = await startEvmChain({ port: 0, now: () => CLOCK })
  payer = connectAs(DEV_PAYERS[0]!, running.url)
  relayer = connectAs(DEV_PAYERS[1]!, running.url)
})

afterAll(() => running.stop())

type Authorization = { value: bigint; validAfter: bigint; validBefore: bigint; nonce: Hex }

function authorize(nonce: number, changes: Partial<Authorization> = {}): Authorization {
  const window = { validAfter: TIME - 600n, validBefore: TIME + 60n }
  return { value: 40n, ...window, nonce: `0x${nonce.toString(16).padStart(64, '0')}`, ...changes }
}

function sign(
  primaryType: 'TransferWithAuthorization' | 'ReceiveWithAuthorization',
  message: Authorization,
  to = DEV_TREASURY.address,
) {
  const types = { TransferWithAuthorization: authorization, ReceiveWithAuthorization: authorization }
  return payer.signTypedData({ domain, types, primaryType, message: { from: payer.account.address, to, ...message } })
}

function transferArgs({ value, validAfter, validBefore, nonce }: Authorization) {
  return [payer.account.address, DEV_TREASURY.address, value, validAfter, validBefore, nonce] as const
}

test('a relayer can use a signed USDC authorization once, and a replay reverts', async () => {
  const message = authorize(1)
  const { r, s, yParity } = parseSignature(await sign('TransferWithAuthorization', message))
  const args = [...transferArgs(message), 27 + yParity, r, s] as const
  const call = { ...usdc, functionName: 'transferWithAuthorization', args } as const
  const hash = await relayer.writeContract(call)
  expect(await relayer.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
  expect(await relayer.readContract({ ...usdc, functionName: 'balanceOf', args: [DEV_TREASURY.address] })).toBe(40n)
  const state = { ...usdc, functionName: 'authorizationState', args: [payer.account.address, message.nonce] } as const
  expect(await relayer.readContract(state)).toBe(true)

  const replay = await relayer.writeContract({ ...call, gas: 200_000n })
  expect(await relayer.getTransactionReceipt({ hash: replay })).toMatchObject({ status: 'reverted' })
  await expect(relayer.simulateContract(call)).rejects.toThrow('FiatTokenV2: authorization is used or canceled')
})

test('a USDC authorization can carry its signature as one bytes value', async () => {
  const message = authorize(2)
  const signature = await sign('TransferWithAuthorization', message)
  const hash = await relayer.writeContract({
    ...usdc,
    functionName: 'transferWithAuthorization',
    args: [...transferArgs(message), signature],
  })
  expect(await relayer.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
})

test.each([
  ['not yet valid', { validAfter: TIME }, 'FiatTokenV2: authorization is not yet valid'],
  ['expired', { validBefore: TIME }, 'FiatTokenV2: authorization is expired'],
  ['beyond the balance', { value: 10n ** 20n }, 'ERC20: transfer amount exceeds balance'],
])('a USDC authorization that is %s is refused', async (_, changes, reason) => {
  const message = authorize(3, changes)
  const args = [...transferArgs(message), await sign('TransferWithAuthorization', message)] as const
  const call = { ...usdc, functionName: 'transferWithAuthorization', args } as const
  await expect(relayer.simulateContract(call)).rejects.toThrow(reason)
})

test('a USDC authorization whose signature covers another amount or another type is refused', async () => {
  const message = authorize(4)
  const other = await sign('TransferWithAuthorization', { ...message, value: 41n })
  const receive = await sign('ReceiveWithAuthorization', message)
  for (const signature of [other, receive, '0x1234'] as const) {
    const args = [...transferArgs(message), signature] as const
    const call = { ...usdc, functionName: 'transferWithAuthorization', args } as const
    await expect(relayer.simulateContract(call)).rejects.toThrow('FiatTokenV2: invalid signature')
  }
})

test('only the payee can call receiveWithAuthorization', async () => {
  const message = authorize(5)
  const signature = await sign('ReceiveWithAuthorization', message, relayer.account.address)
  const { value, validAfter, validBefore, nonce } = message
  const args = [
    payer.account.address,
    relayer.account.address,
    value,
    validAfter,
    validBefore,
    nonce,
    signature,
  ] as const
  const call = { ...usdc, functionName: 'receiveWithAuthorization', args } as const
  await expect(payer.simulateContract(call)).rejects.toThrow('FiatTokenV2: caller must be the payee')
  const hash = await relayer.writeContract(call)
  expect(await relayer.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
})

test('a cancelled USDC authorization cannot be used', async () => {
  const message = authorize(6)
  const signature = await payer.signTypedData({
    domain,
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.account.address, nonce: message.nonce },
  })
  await relayer.writeContract({
    ...usdc,
    functionName: 'cancelAuthorization',
    args: [payer.account.address, message.nonce, signature],
  })
  const args = [...transferArgs(message), await sign('TransferWithAuthorization', message)] as const
  const call = { ...usdc, functionName: 'transferWithAuthorization', args } as const
  await expect(relayer.simulateContract(call)).rejects.toThrow('FiatTokenV2: authorization is used or canceled')
})

test('a USDC permit grants an allowance without a transaction of the owner', async () => {
  const [owner, spender] = [payer.account.address, relayer.account.address]
  const nonce = await payer.readContract({ ...usdc, functionName: 'nonces', args: [owner] })
  const fields = ['owner:address', 'spender:address', 'value:uint256', 'nonce:uint256', 'deadline:uint256']
  const signature = await payer.signTypedData({
    domain,
    types: { Permit: fields.map((field) => ({ name: field.split(':')[0]!, type: field.split(':')[1]! })) },
    primaryType: 'Permit',
    message: { owner, spender, value: 77n, nonce, deadline: TIME },
  })
  const call = { ...usdc, functionName: 'permit', args: [owner, spender, 77n, TIME, signature] } as const
  await relayer.writeContract(call)
  expect(await relayer.readContract({ ...usdc, functionName: 'allowance', args: [owner, spender] })).toBe(77n)
  await expect(relayer.simulateContract(call)).rejects.toThrow('FiatTokenV2: invalid signature')
})
