// The chain's transactions, and the state of accounts before recent ones.

import { hash } from 'node:crypto'
import type { Address, Signature } from '@solana/kit'
import type { Account, tokenBalances } from './accounts.ts'
import type { Outcome } from './execute.ts'
import { addressesIn, type LoadedAddresses } from './wire-transaction.ts'

/** A transaction on the chain. The journal keeps it in this form. */
export interface TransactionRecord extends Outcome {
  readonly signature: Signature
  readonly slot: number
  /** Milliseconds; the block time is its whole seconds. */
  readonly time: number
  /** The transaction as sent, in base64. */
  readonly wire: string
  readonly version: 0 | 'legacy'
  // Lamports are bigint when recorded; read back from the journal, those within 2^53 are numbers.
  readonly fee: bigint | number
  readonly preBalances: readonly (bigint | number)[]
  readonly postBalances: readonly (bigint | number)[]
  readonly preTokenBalances: ReturnType<typeof tokenBalances>
  readonly postTokenBalances: ReturnType<typeof tokenBalances>
  readonly loadedAddresses: LoadedAddresses
}

/** A transaction that may still be in the journal only. */
export interface PastTransaction {
  readonly signature: Signature
  readonly slot: number
  readonly time: number
  /** Of its message. */
  readonly digest: string
  readonly accounts: readonly Address[]
  read(): TransactionRecord
}

export type Ledger = ReturnType<typeof createLedger>

export function createLedger(past: readonly PastTransaction[]) {
  const transactions: PastTransaction[] = [...past]
  const bySignature = new Map(past.map((transaction) => [transaction.signature as string, transaction]))
  const messages = new Set(past.map(({ digest }) => digest))

  return {
    add(record: TransactionRecord) {
      const { signature, slot, time } = record
      const { digest, accounts } = indexed(record)
      const transaction = { signature, slot, time, digest, accounts, read: () => record }
      transactions.push(transaction)
      bySignature.set(signature, transaction)
      messages.add(digest)
    },
    /** Removes all transactions after a slot, and returns them in order. */
    removeAfter(slot: number): TransactionRecord[] {
      const first = transactions.findIndex((transaction) => transaction.slot > slot)
      const removed = first === -1 ? [] : transactions.splice(first)
      for (const { signature, digest } of removed) {
        bySignature.delete(signature)
        messages.delete(digest)
      }
      return removed.map(({ read }) => read())
    },
    find: (signature: string) => bySignature.get(signature)?.read(),
    /** Whether this message was processed before, under any signature, as a real chain checks it. */
    has: (wire: Uint8Array) => messages.has(messageDigest(wire)),
    /** The last transaction at or before a slot. */
    lastUpTo: (slot: number) => transactions.findLast((transaction) => transaction.slot <= slot),
    /** In the order of their slots. */
    all: (): readonly PastTransaction[] => transactions,
  }
}

/** What the chain looks up without reading the transaction. */
export function indexed({ wire, loadedAddresses }: TransactionRecord): Pick<PastTransaction, 'digest' | 'accounts'> {
  const bytes = Buffer.from(wire, 'base64')
  return { digest: messageDigest(bytes), accounts: addressesIn(bytes, loadedAddresses) }
}

export function messageDigest(wire: Uint8Array): string {
  const signatureCount = wire[0] ?? 0
  return hash('sha256', wire.subarray(1 + 64 * signatureCount), 'base64')
}

export type AccountHistory = ReturnType<typeof createAccountHistory>

/** What accounts held before each recent transaction, for reads at `confirmed` and `finalized`. */
export function createAccountHistory() {
  const changes = new Map<Address, { slot: number; before: Account | null }[]>()
  const queue: { slot: number; address: Address }[] = []

  return {
    record(slot: number, address: Address, before: Account | null) {
      const list = changes.get(address) ?? []
      list.push({ slot, before })
      changes.set(address, list)
      queue.push({ slot, address })
    },
    /** The account as it was in a slot; undefined when it has not changed since. */
    at: (address: Address, slot: number) => changes.get(address)?.find((change) => change.slot > slot)?.before,
    addresses: () => changes.keys(),
    forgetAfter(slot: number) {
      for (const [address, list] of changes) {
        const kept = list.filter((change) => change.slot <= slot)
        if (kept.length > 0) changes.set(address, kept)
        else changes.delete(address)
      }
      queue.splice(0, queue.length, ...queue.filter((change) => change.slot <= slot))
    },
    forgetUpTo(slot: number) {
      const keep = queue.findIndex((change) => change.slot > slot)
      for (const { address } of queue.splice(0, keep === -1 ? queue.length : keep)) {
        const list = changes.get(address)!
        list.shift()
        if (list.length === 0) changes.delete(address)
      }
    },
  }
}
