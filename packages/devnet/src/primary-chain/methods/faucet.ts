import { MINTS, TOKEN_ASSETS } from '../dev-accounts.ts'
import { giveSol, giveTokens } from '../faucet.ts'
import { addressAt, type Params, u64At } from '../params.ts'
import { invalidParams } from '../rpc-error.ts'
import type { Methods } from './method.ts'

const USAGE = 'dev_faucet takes [address, asset, amount]'
const SOL_DECIMALS = 9
const U64_MAX = 2n ** 64n - 1n

export const faucetMethods: Methods = {
  requestAirdrop: (chain, params) => giveSol(chain, addressAt(params, 0), u64At(params, 1)).signature,

  async dev_faucet(chain, params) {
    const to = addressAt(params, 0)
    const asset = ['SOL', ...TOKEN_ASSETS].find((name) => name === params[1])
    if (asset === undefined) throw invalidParams(`${USAGE}: asset must be one of SOL, ${TOKEN_ASSETS.join(', ')}`)
    const token = TOKEN_ASSETS.find((name) => name === asset)
    const amount = amountAt(params, 2, token ? MINTS[token].decimals : SOL_DECIMALS)
    const record = token ? await giveTokens(chain, to, token, amount) : giveSol(chain, to, amount)
    return record.signature
  },
}

/** An amount in display units, such as "1.5", as atomic units. */
function amountAt(params: Params, index: number, decimals: number): bigint {
  const value = params[index]
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : value
  const match = typeof text === 'string' ? /^(\d+)(?:\.(\d+))?$/.exec(text) : null
  if (!match) throw invalidParams(`${USAGE}: amount must be a decimal number in display units, such as "1.5"`)
  const fraction = (match[2] ?? '').replace(/0+$/, '')
  if (fraction.length > decimals) throw invalidParams(`${USAGE}: this asset has ${decimals} decimals, give no more`)
  const amount = BigInt(match[1] + fraction.padEnd(decimals, '0'))
  if (amount === 0n || amount > U64_MAX) throw invalidParams(`${USAGE}: amount must be above 0 and fit in 64 bits`)
  return amount
}
