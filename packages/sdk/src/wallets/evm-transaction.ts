// EIP-1559 transactions, the only kind that wallets make.

import { evmAddressOf } from '@svc/protocol/keys'
import { Transaction } from 'micro-eth-signer'
import { type Hex, hexBytes } from './evm-hex.ts'

/** With the field names of viem. */
interface EvmTransaction {
  type: 'eip1559'
  chainId: number
  nonce: number
  maxPriorityFeePerGas: bigint
  maxFeePerGas: bigint
  gas: bigint
  to: Hex
  value: bigint
  data: Hex
}

/** Signs without sending, like a viem account. */
export interface EvmAccount {
  address: string
  signTransaction(transaction: EvmTransaction): Promise<Hex>
}

export function accountOf(privateKey: Hex): EvmAccount {
  const key = hexBytes(privateKey)
  return { address: evmAddressOf(key), signTransaction: async (transaction) => signed(transaction, key) }
}

function signed({ chainId, nonce, gas, ...rest }: EvmTransaction, key: Uint8Array): Hex {
  const fields = { ...rest, chainId: BigInt(chainId), nonce: BigInt(nonce), gasLimit: gas }
  // The wallet decides which fee is reasonable. The limits of the library fit only one chain.
  return Transaction.prepare(fields, false).signBy(key, false).toHex() as Hex
}

/** The hash of a signed transaction. */
export function transactionHash(raw: string): Hex {
  return Transaction.fromHex(raw).hash as Hex
}

/** The chain that a signed transaction is for. */
export function chainIdOf(raw: string): bigint {
  const { raw: fields } = Transaction.fromHex(raw)
  if (!('chainId' in fields) || fields.chainId === undefined) throw new TypeError('the transaction names no chain')
  return fields.chainId
}

/** The fees that a signed transaction offers. */
export function feesOf(raw: string): { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint } {
  const { raw: fields } = Transaction.fromHex(raw)
  if (!('maxFeePerGas' in fields)) throw new TypeError('not a transaction with two fees')
  const { maxFeePerGas, maxPriorityFeePerGas } = fields
  return { maxFeePerGas, maxPriorityFeePerGas }
}
