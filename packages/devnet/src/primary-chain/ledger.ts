import { hash } from 'node:crypto'
import type { Signature } from '@solana/kit'
import type { tokenBalances } from './balances.ts'
import type { Outcome } from './execute.ts'
import type { LoadedAddresses } from './wire-transaction.ts'

/** A transaction that made it into the chain. It is kept in the journal as it stands here. */
export interface TransactionRecord extends Outcome {
  readonly signature: Signature
  readonly slot: number
  /** Milliseconds; the block time is its whole seconds. */
  readonly time: number
  /** The transaction as it was sent, in base64. */
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

export type Ledger = ReturnType<typeof createLedger>

export function createLedger() {
  const records: TransactionRecord[] = []
  const bySignature = new Map<string, TransactionRecord>()
  const messages = new Set<string>()

  return {
    add(record: TransactionRecord) {
      records.push(record)
      bySignature.set(record.signature, record)
      messages.add(messageDigest(Buffer.from(record.wire, 'base64')))
    },
    find: (signature: string) => bySignature.get(signature),
    /** Whether this message was processed before, under whatever signature: that is what a real chain remembers. */
    has: (wire: Uint8Array) => messages.has(messageDigest(wire)),
    /** The last transaction at or before a slot. */
    lastUpTo: (slot: number) => records.findLast((record) => record.slot <= slot),
  }
}

function messageDigest(wire: Uint8Array): string {
  const signatureCount = wire[0] ?? 0
  return hash('sha256', wire.subarray(1 + 64 * signatureCount), 'base64')
}
