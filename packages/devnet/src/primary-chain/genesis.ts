import { type Address, type EncodedAccount, lamports, none, some } from '@solana/kit'
import { LEGACY_MEMO_PROGRAM_ADDRESS_V3, MEMO_PROGRAM_ADDRESS } from '@solana-program/memo'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { AccountState, getMintEncoder, getTokenEncoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { LiteSVM } from 'litesvm'
import {
  AGENT_TREASURY,
  DEMO_PAYERS,
  FAUCET,
  MINT_AUTHORITY,
  MINTS,
  PUBLICATION,
  TOKEN_ASSETS,
  type TokenAsset,
  TREASURY,
  tokenAccountOf,
} from './dev-accounts.ts'

const SOL = 1_000_000_000n
/** The balance of a payer in each token, unless it is expensive. */
const PAYER_TOKENS = 1_000_000n
const PAYER_EXPENSIVE_TOKENS: Partial<Record<TokenAsset, bigint>> = { WETH: 1_000n }

const TREASURIES = [TREASURY, AGENT_TREASURY]

/** A fresh chain: the same accounts every time. We check blockhashes and duplicates, so litesvm's checks are off. */
export async function createGenesis(): Promise<LiteSVM> {
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n).withNativeMints()
  loadMemoV4(svm)
  svm.setAccount(wallet(FAUCET.address, 100_000_000n * SOL))
  svm.setAccount(wallet(MINT_AUTHORITY.address, SOL))
  for (const treasury of TREASURIES) svm.setAccount(wallet(treasury.address, SOL))
  svm.setAccount(wallet(PUBLICATION.address, 100n * SOL))
  for (const payer of DEMO_PAYERS) svm.setAccount(wallet(payer.address, 1_000n * SOL))
  for (const asset of TOKEN_ASSETS) await addAsset(svm, asset)
  return svm
}

function loadMemoV4(svm: LiteSVM) {
  const memoV3 = svm.getAccount(LEGACY_MEMO_PROGRAM_ADDRESS_V3)
  if (!memoV3.exists) throw new Error('litesvm no longer includes the memo program')
  svm.addProgram(MEMO_PROGRAM_ADDRESS, memoV3.data)
}

async function addAsset(svm: LiteSVM, asset: TokenAsset) {
  const { mint, decimals } = MINTS[asset]
  const perPayer = (PAYER_EXPENSIVE_TOKENS[asset] ?? PAYER_TOKENS) * 10n ** BigInt(decimals)
  const data = getMintEncoder().encode({
    mintAuthority: some(MINT_AUTHORITY.address),
    supply: perPayer * BigInt(DEMO_PAYERS.length),
    decimals,
    isInitialized: true,
    freezeAuthority: some(MINT_AUTHORITY.address),
  })
  svm.setAccount(tokenProgramAccount(svm, mint, data))
  for (const treasury of TREASURIES) svm.setAccount(await tokenAccount(svm, treasury.address, asset, 0n))
  for (const payer of DEMO_PAYERS) svm.setAccount(await tokenAccount(svm, payer.address, asset, perPayer))
}

async function tokenAccount(svm: LiteSVM, owner: Address, asset: TokenAsset, amount: bigint): Promise<EncodedAccount> {
  const data = getTokenEncoder().encode({
    mint: MINTS[asset].mint,
    owner,
    amount,
    delegate: none(),
    state: AccountState.Initialized,
    isNative: none(),
    delegatedAmount: 0n,
    closeAuthority: none(),
  })
  return tokenProgramAccount(svm, await tokenAccountOf(owner, asset), data)
}

function tokenProgramAccount(svm: LiteSVM, at: Address, bytes: ArrayLike<number>): EncodedAccount {
  const data = Uint8Array.from(bytes)
  const space = BigInt(data.length)
  const rent = lamports(svm.minimumBalanceForRentExemption(space))
  return { address: at, lamports: rent, programAddress: TOKEN_PROGRAM_ADDRESS, executable: false, data, space }
}

function wallet(at: Address, balance: bigint): EncodedAccount {
  const data = new Uint8Array()
  return {
    address: at,
    lamports: lamports(balance),
    programAddress: SYSTEM_PROGRAM_ADDRESS,
    executable: false,
    data,
    space: 0n,
  }
}
