// The state that the lines of a journal add up to, and the file that keeps it between starts.

import { hash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs'
import type { Signature } from '@solana/kit'
import type { JournalEntry, StoredAccount } from './journal-entry.ts'
import { parseJson, stringifyJson } from './json.ts'
import { type IssuedBlockhash, MAX_AGE_IN_BLOCKS } from './timeline.ts'
import { messageDigest, type PastTransaction, type TransactionRecord } from './transactions/history.ts'

/** Where a line is in the journal. */
export interface Place {
  offset: number
  length: number
}

/** The chain as the journal left it. */
export interface Past {
  /** Null for a chain without a past. */
  genesisTime: number | null
  time: number
  skippedBlocks: number
  blockhashes: readonly IssuedBlockhash[]
  accounts: readonly StoredAccount[]
  /** In the order of their slots. */
  transactions: readonly PastTransaction[]
}

export const NO_PAST: Past = {
  genesisTime: null,
  time: 0,
  skippedBlocks: 0,
  blockhashes: [],
  accounts: [],
  transactions: [],
}

/** One transaction in a snapshot; its line in the journal has the rest. */
type IndexedTransaction = [
  signature: Signature,
  slot: number,
  time: number,
  digest: string,
  offset: number,
  length: number,
]

interface Snapshot extends Omit<Past, 'transactions'> {
  format: typeof FORMAT
  /** How much of the journal the snapshot covers. */
  end: { bytes: number; lines: number }
  /** The digest of the last bytes of that part. */
  digest: string
  transactions: IndexedTransaction[]
}

const FORMAT = 'svc primary chain snapshot 1'

export type Summary = ReturnType<typeof createSummary>

export function createSummary(snapshot: Snapshot | null) {
  let { genesisTime, time, skippedBlocks } = snapshot ?? NO_PAST
  const end = { ...(snapshot?.end ?? { bytes: 0, lines: 0 }) }
  const accounts = new Map(snapshot?.accounts.map((account) => [account.address, account]))
  const transactions = [...(snapshot?.transactions ?? [])]
  let blockhashes = [...(snapshot?.blockhashes ?? [])]

  function recordTransaction({ signature, slot, time, wire }: TransactionRecord, length: number): void {
    const digest = messageDigest(Buffer.from(wire, 'base64'))
    transactions.push([signature, slot, time, digest, end.bytes, length])
  }

  return {
    end: (): Readonly<Snapshot['end']> => end,
    note(entry: JournalEntry, length: number): void {
      genesisTime ??= entry.time
      time = entry.time
      if ('blockhash' in entry) blockhashes.push(entry.blockhash)
      if ('skippedBlocks' in entry) skippedBlocks += entry.skippedBlocks
      if ('transaction' in entry) {
        recordTransaction(entry.transaction, length)
        for (const account of entry.accounts) accounts.set(account.address, account)
      }
      end.bytes += length
      end.lines++
    },
    past: (readRecord: (place: Place) => TransactionRecord): Past => ({
      genesisTime,
      time,
      skippedBlocks,
      blockhashes,
      accounts: [...accounts.values()],
      transactions: transactions.map(([signature, slot, time, digest, offset, length]) => ({
        signature,
        slot,
        time,
        digest,
        read: () => readRecord({ offset, length }),
      })),
    }),
    snapshot(digest: string): Snapshot {
      const newest = blockhashes.at(-1)?.height ?? 0
      blockhashes = blockhashes.filter(({ height }) => newest - height <= MAX_AGE_IN_BLOCKS)
      const all = [...accounts.values()]
      return { format: FORMAT, end, digest, genesisTime, time, skippedBlocks, blockhashes, accounts: all, transactions }
    },
  }
}

/** Null when there is none, or when it belongs to another journal. */
export function readSnapshot(file: string, journal: number): Snapshot | null {
  try {
    const snapshot = parseJson(readFileSync(file, 'utf8')) as Snapshot // written below, or refused
    return snapshot.format === FORMAT && snapshot.digest === digestUpTo(journal, snapshot.end.bytes) ? snapshot : null
  } catch {
    return null
  }
}

/** A process that is killed meanwhile leaves the old snapshot. */
export function writeSnapshot(file: string, journal: number, summary: Summary): void {
  const temporary = `${file}.new`
  const descriptor = openSync(temporary, 'w')
  writeFileSync(descriptor, stringifyJson(summary.snapshot(digestUpTo(journal, summary.end().bytes))))
  fsyncSync(descriptor)
  closeSync(descriptor)
  renameSync(temporary, file)
}

const DIGESTED_BYTES = 65_536

/** Identifies a journal by its last lines, which contain signatures. */
function digestUpTo(journal: number, end: number): string {
  const start = Math.max(0, end - DIGESTED_BYTES)
  return hash('sha256', bytesAt(journal, start, end - start))
}

/** Throws when the file ends earlier. */
export function bytesAt(descriptor: number, offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let read = 0; read < length; ) {
    const count = readSync(descriptor, bytes, read, length - read, offset + read)
    if (count === 0) throw new Error(`the journal ends before byte ${offset + length}`)
    read += count
  }
  return bytes
}
