import type { Address } from '@solana/kit'
import { ACCOUNT_ENCODINGS, type DataSlice, encodeAccount } from '../account-encoding.ts'
import { lamportsOf } from '../balances.ts'
import type { PrimaryChain } from '../chain.ts'
import type { View } from '../commitments.ts'
import type { Account } from '../live-account.ts'
import {
  addressAt,
  type Config,
  configAt,
  listAt,
  oneOf,
  readAddress,
  readConfig,
  readU64,
  viewFor,
} from '../params.ts'
import { inContext, type Methods } from './method.ts'

export const accountMethods: Methods = {
  getAccountInfo(chain, params) {
    const address = addressAt(params, 0)
    const config = configAt(params, 1)
    const view = viewFor(chain, config)
    return inContext(view, present(chain, view, config, 'binary')(chain.account(address, view)))
  },

  getMultipleAccounts(chain, params) {
    const addresses = listAt(params, 0, 100).map(readAddress)
    const config = configAt(params, 1)
    const view = viewFor(chain, config)
    const encode = present(chain, view, config, 'base64')
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

/** How a client wants accounts shown: its `encoding` and `dataSlice`. */
export function present(chain: PrimaryChain, view: View, config: Config, defaultEncoding: 'binary' | 'base64') {
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
