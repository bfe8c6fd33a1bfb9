import { type Address, encodeFunctionData, type Hex, isAddress, numberToHex, parseUnits } from 'viem'
import { invalidParams, type RpcError } from '../rpc-error.ts'
import { MINT_ABI, TOKENS } from './contracts.ts'
import { DEV_MINTER } from './dev-accounts.ts'

type Asset = 'MON' | keyof typeof TOKENS

export const ASSETS: readonly Asset[] = ['MON', 'USDC', 'USDT0', 'WETH']

export function decimalsOf(asset: Asset): number {
  return asset === 'MON' ? 18 : TOKENS[asset].decimals
}

const MAX_AMOUNT = 1_000_000_000

/** `dev_faucet [address, asset, amount]`, the amount in display units: the transaction that grants it. */
export function faucetTransaction(params: readonly unknown[]): UnsignedTransaction {
  const [address, asset, amount] = params
  if (params.length !== 3)
    throw invalid('wants three parameters [address, asset, amount], e.g. ["0x…", "USDC", "25.5"]')
  if (typeof address !== 'string' || !isAddress(address, { strict: false })) {
    throw invalid('address must be 0x and 40 hex digits')
  }
  if (!isAsset(asset)) throw invalid(`asset must be one of ${ASSETS.join(', ')}`)
  return grantTransaction(address, asset, unitsOf(amount, asset))
}

function unitsOf(amount: unknown, asset: Asset): bigint {
  const text = typeof amount === 'number' ? String(amount) : amount
  if (typeof text !== 'string' || !/^\d{1,10}(\.\d+)?$/.test(text)) {
    throw invalid('amount must be a decimal number or string in display units, e.g. 25.5 or "25.5"')
  }
  const decimals = decimalsOf(asset)
  if ((text.split('.')[1]?.length ?? 0) > decimals) {
    throw invalid(`amount has too many digits after the point: ${asset} has ${decimals} decimals`)
  }
  const units = parseUnits(text, decimals)
  if (units === 0n || units > parseUnits(String(MAX_AMOUNT), decimals)) {
    throw invalid(`amount must be above 0 and at most ${MAX_AMOUNT} ${asset}`)
  }
  return units
}

function isAsset(value: unknown): value is Asset {
  return ASSETS.some((asset) => asset === value)
}

function invalid(what: string): RpcError {
  return invalidParams(`dev_faucet: ${what}`)
}

/** For eth_sendTransaction, from an account whose key the chain holds. */
type UnsignedTransaction = { from: Address; to: Address; value?: Hex; data?: Hex; gas: Hex }

/** The minter sends native coin and mints tokens: either way the grant is a real transaction. */
export function grantTransaction(to: Address, asset: Asset, units: bigint): UnsignedTransaction {
  const from = DEV_MINTER.address
  const gas = numberToHex(100_000)
  if (asset === 'MON') return { from, to, value: numberToHex(units), gas }
  const data = encodeFunctionData({ abi: MINT_ABI, functionName: 'mint', args: [to, units] })
  return { from, to: TOKENS[asset].address, data, gas }
}
