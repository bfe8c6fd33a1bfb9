import type { Address } from '@solana/kit'

/** An account as a program sees it: its fields, and where they are in memory. */
export interface ProgramAccount {
  readonly address: Address
  readonly signer: boolean
  readonly writable: boolean
  readonly owner: Address
  readonly lamports: bigint
  readonly data: Uint8Array
  readonly at: bigint
}

/** A program's own 32 KiB while it runs. */
export const HEAP = 0x3_0000_0000n
/** Where the runtime puts the accounts and the data of an instruction. */
const INPUT = 0x4_0000_0000n
export const FIRST_ACCOUNT = INPUT + 8n

export const FIELDS = { signer: 1n, address: 8n, owner: 40n, lamports: 72n, dataLength: 80n, data: 88n } as const
const RENT_EPOCH_BYTES = 8n
const MAX_DATA_GROWTH = 10_240n
const REPEATED_ACCOUNT_BYTES = 8n

/** Assigns each account of an instruction its place in memory; a repeated account keeps its first place. */
export function placeAccounts(accounts: readonly Omit<ProgramAccount, 'at'>[]): ProgramAccount[] {
  const placed = new Map<Address, ProgramAccount>()
  let next = FIRST_ACCOUNT
  return accounts.map((account) => {
    const earlier = placed.get(account.address)
    if (earlier) {
      next += REPEATED_ACCOUNT_BYTES
      return earlier
    }
    const here = { ...account, at: next }
    placed.set(account.address, here)
    const end = next + FIELDS.data + BigInt(account.data.length) + MAX_DATA_GROWTH
    next = ((end + 7n) / 8n) * 8n + RENT_EPOCH_BYTES
    return here
  })
}
