import type { Address } from '@solana/kit'
import type { PrimaryChain } from '../chain.ts'
import type { View } from '../timeline.ts'
import { type Account, lamportsOf } from '../transactions/accounts.ts'
import { ACCOUNT_ENCODINGS, type DataSlice, encodeAccount } from './account-encoding.ts'
import {
  addressAt,
  type Config,
  configAt,
  inContext,
  listAt,
  type Methods,
  oneOf,
  readAddress,
  readConfig,
  readU64,
  viewFor,
} from './params.ts'

export const accountMethods: Methods = {
  getAccountInfo(chain, params) {
    const address = addressAt(params, 0)
    const config = configAt(params, 1)
    const view = viewFor(chain, config)
    return inContext(view, accountEncoder(chain, view, config, 'binary')(chain.account(address, view)))
  },

  getMultipleAccounts(chain, params) {
    const addresses = listAt(params, 0, 100).map(readAddress)
    const config = configAt(params, 1)
    const view = viewFor(chain, config)
    const encode = accountEncoder(chain, view, config, 'base64')
    return inContext(
      view,
      addresses.map((address) => encode(chain.account(address, view))),
    )
  },

  getBalance(chain, params) {
    const address = addressAt(params, 0)
    const view = viewFor(chain, configAt(params, 1))
    return inContext(view, lamportsOf(chain.account(address, view)))
  },
}

/** Encodes accounts by the client's `encoding` and `dataSlice`. */
export function accountEncoder(chain: PrimaryChain, view: View, config: Config, defaultEncoding: 'binary' | 'base64') {
  const encoding = oneOf(config.encoding, ACCOUNT_ENCODINGS, defaultEncoding)
  const slice = config.dataSlice ? readSlice(readConfig(config.dataSlice, 'dataSlice')) : undefined
  const getAccount = (address: Address) => chain.account(address, view)
  return (account: Account | null) => account && encodeAccount(account, encoding, slice, getAccount)
}

function readSlice(slice: Config): DataSlice {
  return {
    offset: Number(readU64(slice.offset, 'dataSlice.offset')),
    length: Number(readU64(slice.length, 'dataSlice.length')),
  }
}
