import { isAddress, parseUnits } from 'viem'
import { ASSETS, type Asset, decimalsOf, grantTransaction, type UnsignedTransaction } from './assets.ts'
import { INVALID_PARAMS, RpcError } from './rpc-error.ts'

const MOST = 1_000_000_000

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
  if (units === 0n || units > parseUnits(String(MOST), decimals)) {
    throw invalid(`amount must be above 0 and at most ${MOST} ${asset}`)
  }
  return units
}

function isAsset(value: unknown): value is Asset {
  return ASSETS.some((asset) => asset === value)
}

function invalid(what: string): RpcError {
  return new RpcError(INVALID_PARAMS, `dev_faucet: ${what}`)
}
