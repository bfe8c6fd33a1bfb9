// The state that the lines of a journal add up to, and the file that keeps it between starts.

import { hash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs'
import type { Address, Signature } from '@solana/kit'
import type { JournalEntry, StoredAccount } from './journal-entry.ts'
import { parseJson, stringifyJson } from './json.ts'
import { type IssuedBlockhash, MAX_AGE_IN_BLOCKS } from './timeline.ts'
import { indexed, type PastTransaction, type TransactionRecord } from './transactions/history.ts'

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
  /** Places in `addresses`. */
  accounts: number[],
]

interface Snapshot extends Omit<Past, 'transactions'> {
  format: typeof FORMAT
  /** How much of the journal the snapshot covers. */
  end: { bytes: number; lines: number }
  /** The digest of the last bytes of that part. */
  digest: string
  /** All accounts of the transactions. */
  addresses: Address[]
  transactions: IndexedTransaction[]
}

const FORMAT = 'svc primary chain snapshot 2'

export type Summary = ReturnType<typeof createSummary>

export function createSummary(snapshot: Snapshot | null) {
  let { genesisTime, time, skippedBlocks } = snapshot ?? NO_PAST
  const end = { ...(snapshot?.end ?? { bytes: 0, lines: 0 }) }
  const accounts = new Map(snapshot?.accounts.map((account) => [account.address, account]))
  const transactions = [...(snapshot?.transactions ?? [])]
  const addresses = [...(snapshot?.addresses ?? [])]
  const places = new Map(addresses.map((address, place) => [address, place]))
  let blockhashes = [...(snapshot?.blockhashes ?? [])]

  function placeOf(address: Address): number {
    const known = places.get(address)
    if (known !== undefined) return known
    places.set(address, addresses.length)
    return addresses.push(address) - 1
  }

  function recordTransaction(record: TransactionRecord, length: number): void {
    const { signature, slot, time } = record
    const { digest, accounts } = indexed(record)
    transactions.push([signature, slot, time, digest, end.bytes, length, accounts.map(placeOf)])
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
      transactions: transactions.map(([signature, slot, time, digest, offset, length, accounts]) => ({
        signature,
        slot,
        time,
        digest,
        accounts: accounts.map((place) => addresses[place] as Address),
        read: () => readRecord({ offset, length }),
      })),
    }),
    snapshot(digest: string): Snapshot {
      const newest = blockhashes.at(-1)?.height ?? 0
      blockhashes = blockhashes.filter(({ height }) => newest - height <= MAX_AGE_IN_BLOCKS)
      return {
        ...{ format: FORMAT, end, digest, genesisTime, time, skippedBlocks, blockhashes, addresses, transactions },
        accounts: [...accounts.values()],
      }
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
