// Accounts as litesvm holds them, and the tokens in them.

import { type Address, address, type EncodedAccount } from '@solana/kit'
import { getMintDecoder, getTokenDecoder, type Mint, TOKEN_PROGRAM_ADDRESS, type Token } from '@solana-program/token'
import type { LiteSVM } from 'litesvm'

/** An account of a transaction, and what the transaction may do with it. */
export interface AccountKey {
  readonly address: Address
  readonly signer: boolean
  readonly writable: boolean
  readonly source: 'transaction' | 'lookupTable'
}

export type Account = EncodedAccount
export type GetAccount = (address: Address) => Account | null

export function liveAccount(svm: LiteSVM, address: Address): Account | null {
  const account = svm.getAccount(address)
  return account.exists ? account : null
}

export const TOKEN_2022_PROGRAM_ADDRESS = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const TOKEN_PROGRAMS: readonly Address[] = [TOKEN_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS]

const TOKEN_ACCOUNT_BYTES = 165
const MINT_BYTES = 82
// Token-2022 pads mints to a token account's length; the byte after that tells the two apart.
const EXTENDED_KIND = { mint: 1, account: 2 } as const

export function readTokenAccount(account: Account): Token | null {
  if (!isOfKind(account, TOKEN_ACCOUNT_BYTES, EXTENDED_KIND.account)) return null
  const token = getTokenDecoder().decode(account.data)
  return token.state === 0 ? null : token
}

export function readMint(account: Account): Mint | null {
  if (!isOfKind(account, MINT_BYTES, EXTENDED_KIND.mint)) return null
  const mint = getMintDecoder().decode(account.data)
  return mint.isInitialized ? mint : null
}

function isOfKind(account: Account, length: number, kind: number): boolean {
  if (!TOKEN_PROGRAMS.includes(account.programAddress)) return false
  const { data } = account
  return data.length === length || (data.length > TOKEN_ACCOUNT_BYTES && data[TOKEN_ACCOUNT_BYTES] === kind)
}

export function uiTokenAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const uiAmountString = fraction === '' ? whole : `${whole}.${fraction}`
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}

export type AccountsByAddress = ReadonlyMap<Address, Account | null>

export function lamportsOf(account: Account | null | undefined): bigint {
  return account?.lamports ?? 0n
}

/** `preTokenBalances` or `postTokenBalances`; as on a real node, only for transactions that name a token program. */
export function tokenBalances(keys: readonly AccountKey[], accounts: AccountsByAddress, getAccount: GetAccount) {
  if (!keys.some((key) => TOKEN_PROGRAMS.includes(key.address))) return []
  return keys.flatMap((key, accountIndex) => {
    const account = accounts.get(key.address)
    const token = account && readTokenAccount(account)
    const mintAccount = token && (accounts.get(token.mint) ?? getAccount(token.mint))
    const mint = mintAccount && readMint(mintAccount)
    if (!mint) return []
    const { mint: mintAddress, owner, amount } = token
    const programId = account.programAddress
    return [{ accountIndex, mint: mintAddress, uiTokenAmount: uiTokenAmount(amount, mint.decimals), owner, programId }]
  })
}
