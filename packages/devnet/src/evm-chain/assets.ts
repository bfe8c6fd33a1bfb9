import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem'
import { MINT_ABI, TOKENS } from './contracts.ts'
import { DEV_MINTER } from './dev-accounts.ts'

export type Asset = 'MON' | keyof typeof TOKENS

export const ASSETS: readonly Asset[] = ['MON', 'USDC', 'USDT0', 'WETH']

export function decimalsOf(asset: Asset): number {
  return asset === 'MON' ? 18 : TOKENS[asset].decimals
}

/** An unsigned transaction, as eth_sendTransaction takes it from an account whose key the chain holds. */
export type UnsignedTransaction = { from: Address; to: Address; value?: Hex; data?: Hex; gas: Hex }

/** Native coin is sent by the minter, a token is minted: either way the chain has a real transaction to show. */
export function grantTransaction(to: Address, asset: Asset, units: bigint): UnsignedTransaction {
  const from = DEV_MINTER.address
  const gas = numberToHex(100_000)
  if (asset === 'MON') return { from, to, value: numberToHex(units), gas }
  const data = encodeFunctionData({ abi: MINT_ABI, functionName: 'mint', args: [to, units] })
  return { from, to: TOKENS[asset].address, data, gas }
}
