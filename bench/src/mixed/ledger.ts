// What buyers were told: the promises that an audit holds the gateway to.

import type { PayableLeg } from '@svc/devnet/pay-leg'
import type { Identity } from '@svc/devnet/services/signing'

export interface Payment {
  leg: PayableLeg
  /** On chain. */
  tx: string
  /** When its quote was answered, by `performance.now`. */
  quotedAt: number
  owner: Identity
  /** As it was first answered; null while no answer came. */
  receipt: { receipt_id: string } | null
  locker: LockerEntry | null
}

export interface LockerEntry {
  receiptId: string
  lockerId: string
  owner: Identity
  files: Map<string, FileEntry>
  /** By sequence, as they were answered. */
  statements: Map<number, string>
  /** The transaction of each anchor that was answered, by sequence. */
  anchors: Map<number, string>
  /** Keys that were added, and whether each may be an operator now. */
  operators: Map<string, Set<boolean>>
}

/** What a name may hold: hashes of bytes, or null for nothing. One once its last change was acknowledged. */
export interface FileEntry {
  possible: Set<string | null>
  size: number
}

export interface Ledger {
  payments: Payment[]
  /** What was noticed on the way: each is a broken promise. */
  violations: string[]
  /** Requests that were given up after many attempts. */
  givenUp: number
  /** Acknowledged envelopes that were sent once more, all refused unless `violations` says otherwise. */
  replays: number
  /** From when to when the database forgot what is not in a journal. */
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

/** Whether its last change was acknowledged, and it holds bytes. */
export function isSettled({ possible }: FileEntry): boolean {
  return possible.size === 1 && !possible.has(null)
}
