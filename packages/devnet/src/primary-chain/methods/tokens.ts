import { invalidParams } from '../../rpc-error.ts'
import type { PrimaryChain } from '../chain.ts'
import type { View } from '../timeline.ts'
import { readMint, readTokenAccount, TOKEN_PROGRAMS, uiTokenAmount } from '../transactions/accounts.ts'
import { accountEncoder } from './accounts.ts'
import {
  addressAt,
  type Config,
  configAt,
  inContext,
  type Methods,
  readAddress,
  readConfig,
  viewFor,
} from './params.ts'

export const tokenMethods: Methods = {
  getTokenAccountBalance(chain, params) {
    const address = addressAt(params, 0)
    const view = viewFor(chain, configAt(params, 1))
    const account = chain.account(address, view)
    if (account === null) throw invalidParams('Invalid param: could not find account')
    const token = readTokenAccount(account)
    const mintAccount = token && chain.account(token.mint, view)
    const mint = mintAccount && readMint(mintAccount)
    if (!token || !mint) throw invalidParams('Invalid param: not a Token account')
    return inContext(view, uiTokenAmount(token.amount, mint.decimals))
  },

  getTokenSupply(chain, params) {
    const address = addressAt(params, 0)
    const view = viewFor(chain, configAt(params, 1))
    const account = chain.account(address, view)
    if (account === null) throw invalidParams('Invalid param: could not find account')
    const mint = readMint(account)
    if (mint === null) throw invalidParams('Invalid param: not a Token mint')
    return inContext(view, uiTokenAmount(mint.supply, mint.decimals))
  },

  getTokenAccountsByOwner(chain, params) {
    const owner = addressAt(params, 0)
    const filter = readConfig(params[1], 'argument 2')
    const config = configAt(params, 2)
    const view = viewFor(chain, config)
    const matches = tokenFilter(chain, view, filter)
    const encode = accountEncoder(chain, view, config, 'binary')
    const accounts = TOKEN_PROGRAMS.flatMap((program) => chain.programAccounts(program, view)).filter((account) => {
      const token = readTokenAccount(account)
      return token?.owner === owner && matches(token.mint, account.programAddress)
    })
    return inContext(
      view,
      accounts.map((account) => ({ pubkey: account.address, account: encode(account) })),
    )
  },
}

function tokenFilter(chain: PrimaryChain, view: View, filter: Config) {
  if (filter.mint !== undefined) {
    const mint = readAddress(filter.mint)
    const account = chain.account(mint, view)
    if (account === null) throw invalidParams('Invalid param: could not find mint')
    if (readMint(account) === null) throw invalidParams('Invalid param: not a Token mint')
    return (tokenMint: string) => tokenMint === mint
  }
  if (filter.programId === undefined) throw invalidParams('Invalid params: the filter must name a mint or a programId')
  const programId = readAddress(filter.programId)
  if (!TOKEN_PROGRAMS.includes(programId)) throw invalidParams('Invalid param: unrecognized Token program id')
  return (_tokenMint: string, program: string) => program === programId
}
