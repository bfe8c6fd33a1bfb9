import type { Address, EncodedAccount } from '@solana/kit'
import type { LiteSVM } from 'litesvm'

export type Account = EncodedAccount
export type GetAccount = (address: Address) => Account | null

export function liveAccount(svm: LiteSVM, address: Address): Account | null {
  const account = svm.getAccount(address)
  return account.exists ? account : null
}
