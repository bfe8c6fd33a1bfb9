import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, readFileSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Address, address, lamports } from '@solana/kit'
import { parseJson, stringifyJson } from './json.ts'
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

export interface Journal {
  append(entry: JournalEntry): void
  close(): void
}

export const NO_JOURNAL: Journal = { append() {}, close() {} }

/**
 * Everything that changed the chain, one JSON line each. A line is written before the client gets its answer, so a killed
 * process loses nothing acknowledged. If it leaves an incomplete last line, that line is cut off here.
 */
export function openJournal(file: string): { journal: Journal; entries: JournalEntry[] } {
  mkdirSync(dirname(file), { recursive: true })
  const entries = existsSync(file) ? readEntries(file) : []
  const descriptor = openSync(file, 'a')
  return {
    entries,
    journal: {
      append: (entry) => appendFileSync(descriptor, `${stringifyJson(entry)}\n`),
      close: () => closeSync(descriptor),
    },
  }
}

function readEntries(file: string): JournalEntry[] {
  const bytes = readFileSync(file)
  const entries: JournalEntry[] = []
  let start = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    entries.push(readEntry(file, entries.length + 1, bytes.toString('utf8', start, end)))
    start = end + 1
  }
  if (start < bytes.length) truncateSync(file, start)
  return entries
}

function readEntry(file: string, line: number, text: string): JournalEntry {
  try {
    return parseJson(text) as JournalEntry // written by `append` above
  } catch (cause) {
    throw new Error(`${file} is damaged at line ${line}: remove it to start the local primary chain anew`, { cause })
  }
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
