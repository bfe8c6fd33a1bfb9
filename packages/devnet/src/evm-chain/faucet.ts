import { coinOf } from '@svc/api/assets'
import type { EvmNetwork } from '@svc/api/networks'
import { type Address, encodeFunctionData, type Hex, isAddress, numberToHex, parseUnits } from 'viem'
import { invalidParams, type RpcError } from '../rpc-error.ts'
import { MINT_ABI, type Token } from './contracts.ts'
import { DEV_MINTER } from './dev-accounts.ts'

/** The coin of the chain, or a token on it. */
export type Grantable = Pick<Token, 'ticker' | 'decimals'> & { address?: Address }

export function coinGrant(network: EvmNetwork): Grantable {
  const { ticker, decimals } = coinOf(network)
  return { ticker, decimals }
}

const MAX_AMOUNT = 1_000_000_000

/** `dev_faucet [address, asset, amount]`, the amount in display units: the transaction that grants it. */
export function faucetTransaction(params: readonly unknown[], assets: readonly Grantable[]): UnsignedTransaction {
  const [address, ticker, amount] = params
  if (params.length !== 3)
    throw invalid('expected three parameters [address, asset, amount], e.g. ["0x…", "USDC", "25.5"]')
  if (typeof address !== 'string' || !isAddress(address, { strict: false })) {
    throw invalid('address must be 0x and 40 hex digits')
  }
  const asset = assets.find((one) => one.ticker === ticker)
  if (!asset) throw invalid(`asset must be one of ${assets.map((one) => one.ticker).join(', ')}`)
  return grantTransaction(address, asset, unitsOf(amount, asset))
}

function unitsOf(amount: unknown, { ticker, decimals }: Grantable): bigint {
  const text = typeof amount === 'number' ? String(amount) : amount
  if (typeof text !== 'string' || !/^\d{1,10}(\.\d+)?$/.test(text)) {
    throw invalid('amount must be a decimal number or string in display units, e.g. 25.5 or "25.5"')
  }
  if ((text.split('.')[1]?.length ?? 0) > decimals) {
    throw invalid(`amount has too many digits after the point: ${ticker} has ${decimals} decimals`)
  }
  const units = parseUnits(text, decimals)
  if (units === 0n || units > parseUnits(String(MAX_AMOUNT), decimals)) {
    throw invalid(`amount must be above 0 and at most ${MAX_AMOUNT} ${ticker}`)
  }
  return units
}

function invalid(what: string): RpcError {
  return invalidParams(`dev_faucet: ${what}`)
}

/** For eth_sendTransaction, from an account whose key the chain holds. */
type UnsignedTransaction = { from: Address; to: Address; value?: Hex; data?: Hex; gas: Hex }

/** The minter sends native coin and mints tokens: either way the grant is a real transaction. */
export function grantTransaction(to: Address, { address }: Grantable, units: bigint): UnsignedTransaction {
  const from = DEV_MINTER.address
  const gas = numberToHex(100_000)
  if (address === undefined) return { from, to, value: numberToHex(units), gas }
  const data = encodeFunctionData({ abi: MINT_ABI, functionName: 'mint', args: [to, units] })
  return { from, to: address, data, gas }
}
