// The lines of the journal.

import { type Address, address, lamports } from '@solana/kit'
import type { IssuedBlockhash } from './timeline.ts'
import type { Account } from './transactions/accounts.ts'
import type { TransactionRecord } from './transactions/history.ts'

/** One line of the journal; `time` is when it was written, by the chain's clock. */
export type JournalEntry = { readonly time: number } & (
  | { readonly genesis: 'svc primary chain 1' }
  | { readonly blockhash: IssuedBlockhash }
  | { readonly skippedBlocks: number }
  | { readonly transaction: TransactionRecord; readonly accounts: readonly StoredAccount[] }
)

/** An account after a transaction; without `data` it was closed. */
export interface StoredAccount {
  readonly address: string
  readonly lamports?: string
  readonly owner?: string
  readonly executable?: boolean
  readonly data?: string
}

export function storeAccount(at: Address, account: Account | null): StoredAccount {
  if (account === null) return { address: at }
  return {
    address: at,
    lamports: account.lamports.toString(),
    owner: account.programAddress,
    executable: account.executable,
    data: Buffer.from(account.data).toString('base64'),
  }
}

/** A closed account becomes one without lamports, which litesvm treats as no account. */
export function loadAccount(stored: StoredAccount): Account {
  const data = new Uint8Array(Buffer.from(stored.data ?? '', 'base64'))
  return {
    address: address(stored.address),
    lamports: lamports(BigInt(stored.lamports ?? 0)),
    programAddress: address(stored.owner ?? '11111111111111111111111111111111'),
    executable: stored.executable ?? false,
    data,
    space: BigInt(data.length),
  }
}
