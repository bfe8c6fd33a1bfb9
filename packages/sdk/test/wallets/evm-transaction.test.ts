// Compares every byte with viem's output.

import fc from 'fast-check'
import {
  checksumAddress,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  isAddress,
  keccak256,
  parseTransaction,
  toHex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import {
  balanceOf,
  DECIMALS,
  readBalance,
  readDecimals,
  readSymbol,
  SYMBOL,
  transfer,
} from '../../src/wallets/erc20.ts'
import { hexOf } from '../../src/wallets/evm-hex.ts'
import { accountOf, feesOf, transactionHash } from '../../src/wallets/evm-transaction.ts'

const bytes = (constraints: fc.IntArrayConstraints) => fc.uint8Array(constraints)
const hex = (length: number) => bytes({ minLength: length, maxLength: length }).map(hexOf)
const address = hex(20).map((text) => checksumAddress(text))
/** Numbers of every length, because a plain bigInt arbitrary makes mostly long ones. */
const amount = (bits: number) =>
  fc.integer({ min: 0, max: bits }).chain((n) => fc.bigInt({ min: 0n, max: (1n << BigInt(n)) - 1n }))
const privateKey = bytes({ minLength: 32, maxLength: 32 })
  .filter((key) => key[0] !== 255 && key.some((byte) => byte !== 0))
  .map(hexOf)

const transaction = fc.record({
  type: fc.constant('eip1559' as const),
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  nonce: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 ** 40 })),
  maxPriorityFeePerGas: amount(64),
  maxFeePerGas: amount(96),
  gas: amount(63),
  to: address,
  value: amount(256),
  data: bytes({ maxLength: 600 }).map(hexOf),
})

it('transactions are signed exactly as in viem', { tags: ['nightly'] }, async () => {
  await fc.assert(
    fc.asyncProperty(privateKey, transaction, async (key, { maxPriorityFeePerGas, ...rest }) => {
      // viem refuses a priority fee above the maximum fee.
      const maxFeePerGas = rest.maxFeePerGas + maxPriorityFeePerGas
      const request = { ...rest, maxFeePerGas, maxPriorityFeePerGas }
      const raw = await accountOf(key).signTransaction(request)
      expect(raw).toBe(await privateKeyToAccount(key).signTransaction(request))
      expect(transactionHash(raw)).toBe(keccak256(raw))
      expect(feesOf(raw)).toEqual({ maxFeePerGas, maxPriorityFeePerGas })
      const { maxFeePerGas: max = 0n, maxPriorityFeePerGas: priority = 0n } = parseTransaction(raw)
      expect(feesOf(raw)).toEqual({ maxFeePerGas: max, maxPriorityFeePerGas: priority })
    }),
    { numRuns: 100 },
  )
})

it('token calls are encoded and their results decoded exactly as in viem', () => {
  fc.assert(
    fc.property(address, amount(256), (to, value) => {
      const viems = (functionName: 'transfer' | 'balanceOf', args: readonly unknown[]) =>
        encodeFunctionData({ abi: erc20Abi, functionName, args } as Parameters<typeof encodeFunctionData>[0])
      expect(transfer(to, value)).toBe(viems('transfer', [to, value]))
      expect(balanceOf(to.toLowerCase())).toBe(viems('balanceOf', [to]))
      expect(readBalance(encodeAbiParameters([{ type: 'uint256' }], [value]))).toBe(value)
      if (value > 255n) expect(() => readDecimals(toHex(value, { size: 32 }))).toThrow(RangeError)
      else expect(readDecimals(toHex(value, { size: 32 }))).toBe(value)
    }),
    { numRuns: 100 },
  )
  expect(SYMBOL).toBe(encodeFunctionData({ abi: erc20Abi, functionName: 'symbol' }))
  expect(DECIMALS).toBe(encodeFunctionData({ abi: erc20Abi, functionName: 'decimals' }))
  expect(() => transfer(`0x${'1'.repeat(40)}`, 1n << 256n)).toThrow()
})

it('readSymbol decodes texts that viem encodes and refuses malformed ones', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (text) => {
      expect(readSymbol(encodeAbiParameters([{ type: 'string' }], [text]))).toBe(text)
    }),
  )
  const words = (...numbers: bigint[]) => numbers.map((n) => n.toString(16).padStart(64, '0')).join('')
  const notText = ['0x', '0x00', `0x${words(32n, 5n)}`, `0x${words(1n << 255n, 1n)}`, `0x${words(32n, 1n)}ff`]
  for (const answer of notText) expect(() => readSymbol(answer), answer).toThrow(RangeError)
})

it('transfer accepts exactly the addresses that viem accepts, and addresses in capitals', () => {
  const flipped = (text: string, at: number) => {
    const char = text[at] as string
    const other = char === char.toUpperCase() ? char.toLowerCase() : char.toUpperCase()
    return text.slice(0, at) + other + text.slice(at + 1)
  }
  fc.assert(
    fc.property(address, fc.integer({ min: 2, max: 41 }), (right, at) => {
      for (const text of [
        right,
        right.toLowerCase(),
        flipped(right, at),
        right.slice(0, -1),
        `${right}0`,
        right.slice(2),
      ])
        expect(isAccepted(text), text).toBe(isAddress(text) || /^0x[0-9A-F]{40}$/.test(text))
    }),
    { numRuns: 100 },
  )
})

function isAccepted(address: string): boolean {
  try {
    return transfer(address, 1n).includes(address.slice(2).toLowerCase())
  } catch {
    return false
  }
}
