// Encodes the ERC-20 calls for payments and decodes their results.

import { addr } from 'micro-eth-signer'
import { createContract, ERC20 } from 'micro-eth-signer/abi.js'
import { type Hex, hexBytes, hexOf } from './evm-hex.ts'

const token = createContract(ERC20)

export const SYMBOL = hexOf(token.symbol.encodeInput())
export const DECIMALS = hexOf(token.decimals.encodeInput())

export function balanceOf(owner: string): Hex {
  return hexOf(token.balanceOf.encodeInput(requireAddress(owner)))
}

export function transfer(to: string, amount: bigint): Hex {
  return hexOf(token.transfer.encodeInput({ to: requireAddress(to), value: amount }))
}

/** A mixed-case address has a checksum (EIP-55), so a mistyped one is refused. */
function requireAddress(address: string): string {
  if (!addr.isValid(address)) throw new RangeError(`${address} is not an address`)
  return address
}

export const readSymbol = reader(token.symbol.decodeOutput)
export const readDecimals = reader(token.decimals.decodeOutput)
export const readBalance = reader(token.balanceOf.decodeOutput)

/** Decodes the result of a call. */
function reader<T>(decode: (bytes: Uint8Array) => T): (answer: string) => T {
  return (answer) => {
    try {
      return decode(hexBytes(answer))
    } catch (cause) {
      throw new RangeError('the contract does not answer like a token', { cause })
    }
  }
}
