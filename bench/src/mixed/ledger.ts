// The answers that buyers received: the promises that an audit checks.

import type { PayableLeg } from '@svc/devnet/pay-leg'
import type { Identity } from '@svc/devnet/services/signing'

export interface Payment {
  leg: PayableLeg
  /** The transaction on chain. */
  tx: string
  /** When its quote arrived, by `performance.now`. */
  quotedAt: number
  owner: Identity
  /** The receipt as first returned; null until an answer arrives. */
  receipt: { receipt_id: string } | null
  locker: LockerEntry | null
}

export interface LockerEntry {
  receiptId: string
  lockerId: string
  owner: Identity
  files: Map<string, FileEntry>
  /** The digests returned, by sequence. */
  statements: Map<number, string>
  /** The transaction of each returned anchor, by sequence. */
  anchors: Map<number, string>
  /** Keys that were added, each with its possible states: an operator or not. */
  operators: Map<string, Set<boolean>>
}

/** The possible contents of a name: hashes, or null for nothing. There is one once its last change is acknowledged. */
export interface FileEntry {
  possible: Set<string | null>
  size: number
}

export interface Ledger {
  payments: Payment[]
  /** Broken promises that were observed during the run. */
  violations: string[]
  /** Requests abandoned after many attempts. */
  givenUp: number
  /** Acknowledged envelopes that were sent again; `violations` lists the ones that were accepted. */
  replays: number
  /** Periods for which the database lost everything that is not in a journal. */
  losses: { since: number; until: number }[]
  /** `last`: what the last replay printed. */
  restores: { replays: number; killedReplays: number; refused: number; undeleted: number; last: string }
}

export function createLedger(): Ledger {
  const restores = { replays: 0, killedReplays: 0, refused: 0, undeleted: 0, last: '' }
  return { payments: [], violations: [], givenUp: 0, replays: 0, losses: [], restores }
}

export function lockersOf(ledger: Ledger): LockerEntry[] {
  return ledger.payments.flatMap(({ locker }) => locker ?? [])
}

export interface LedgerCounts {
  payments: number
  receipts: number
  lockers: number
  files: number
  statements: number
  anchors: number
  operators: number
}

export function countLedger(ledger: Ledger): LedgerCounts {
  const lockers = lockersOf(ledger)
  const sum = (of: (locker: LockerEntry) => number) => lockers.reduce((total, locker) => total + of(locker), 0)
  return {
    payments: ledger.payments.length,
    receipts: ledger.payments.filter(({ receipt }) => receipt).length,
    lockers: lockers.length,
    files: sum(({ files }) => [...files.values()].filter(isSettled).length),
    statements: sum(({ statements }) => statements.size),
    anchors: sum(({ anchors }) => anchors.size),
    operators: sum(({ operators }) => operators.size),
  }
}

/** Whether the last change of the file was acknowledged and it has bytes. */
export function isSettled({ possible }: FileEntry): boolean {
  return possible.size === 1 && !possible.has(null)
}
