import { zstdCompressSync } from 'node:zlib'
import { getBase58Decoder, unwrapOption } from '@solana/kit'
import { type AccountState, type Mint, TOKEN_PROGRAM_ADDRESS, type Token } from '@solana-program/token'
import { RPC_CODES, RpcError } from '../../rpc-error.ts'
import { type Account, type GetAccount, readMint, readTokenAccount, uiTokenAmount } from '../transactions/accounts.ts'

export const ACCOUNT_ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const
export type AccountEncoding = (typeof ACCOUNT_ENCODINGS)[number]

export interface DataSlice {
  readonly offset: number
  readonly length: number
}

export function encodeAccount(
  account: Account,
  encoding: AccountEncoding,
  slice: DataSlice | undefined,
  getAccount: GetAccount,
) {
  return {
    data: (encoding === 'jsonParsed' && parseData(account, getAccount)) || encodeData(account.data, encoding, slice),
    executable: account.executable,
    lamports: account.lamports,
    owner: account.programAddress,
    rentEpoch: 2n ** 64n - 1n, // what the runtime gives every rent-exempt account
    space: account.data.length,
  }
}

function encodeData(all: Account['data'], encoding: AccountEncoding, slice: DataSlice | undefined) {
  const data = Buffer.from(slice ? all.subarray(slice.offset, slice.offset + slice.length) : all)
  if (encoding === 'base64+zstd') return [zstdCompressSync(data).toString('base64'), encoding]
  // A node falls back to base64 for what it cannot parse.
  if (encoding === 'base64' || encoding === 'jsonParsed') return [data.toString('base64'), 'base64']
  if (data.length > 128)
    throw new RpcError(
      RPC_CODES.invalidRequest,
      'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    )
  const base58 = getBase58Decoder().decode(data)
  return encoding === 'binary' ? base58 : [base58, encoding]
}

function parseData(account: Account, getAccount: GetAccount) {
  const program = account.programAddress === TOKEN_PROGRAM_ADDRESS ? 'spl-token' : 'spl-token-2022'
  const token = readTokenAccount(account)
  const mintAccount = token ? getAccount(token.mint) : account
  const mint = mintAccount && readMint(mintAccount)
  if (mint === null) return null
  const parsed = token
    ? { type: 'account', info: tokenAccountInfo(token, mint.decimals) }
    : { type: 'mint', info: mintInfo(mint) }
  return { program, parsed, space: account.data.length }
}

function tokenAccountInfo(token: Token, decimals: number) {
  const delegate = unwrapOption(token.delegate)
  const closeAuthority = unwrapOption(token.closeAuthority)
  const reserve = unwrapOption(token.isNative)
  return {
    ...(closeAuthority && { closeAuthority }),
    ...(delegate && { delegate, delegatedAmount: uiTokenAmount(token.delegatedAmount, decimals) }),
    isNative: reserve !== null,
    mint: token.mint,
    owner: token.owner,
    ...(reserve !== null && { rentExemptReserve: uiTokenAmount(reserve, decimals) }),
    state: STATES[token.state],
    tokenAmount: uiTokenAmount(token.amount, decimals),
  }
}

const STATES: Record<AccountState, string> = { 0: 'uninitialized', 1: 'initialized', 2: 'frozen' }

function mintInfo(mint: Mint) {
  return {
    decimals: mint.decimals,
    freezeAuthority: unwrapOption(mint.freezeAuthority),
    isInitialized: mint.isInitialized,
    mintAuthority: unwrapOption(mint.mintAuthority),
    supply: mint.supply.toString(),
  }
}
