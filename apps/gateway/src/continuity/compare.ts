// Holds the database against the logbook: what was promised and is not there.

import type { NonceTable } from '@svc/guard/tables'
import type { Db } from '../db/schema.ts'
import type { Entry, NotedReceipt, NotedRefund, NotedStatement } from './entries.ts'
import { type Dated, readBackwards, readNonces } from './logbook.ts'
import { acceptedSequences, closedTransactions, hasNonce, knownDigests, knownReceiptHashes } from './store.ts'

export interface Missing {
  statements: NotedStatement[]
  payments: (NotedReceipt | NotedRefund)[]
}

/** When the ends of so many files are known, all earlier entries are: a database is set back as a whole. */
const ENDS = 20

/**
 * Reads each file from its end up to a page that is known as a whole. `all` reads everything: for people who repaired a
 * database by hand.
 */
export async function missingInDatabase(db: Db, folder: string, { all = false } = {}): Promise<Missing> {
  const missing: Missing = { statements: [], payments: [] }
  let knownEnds = 0
  for await (const pages of readBackwards(folder)) {
    let isEnd = true
    for await (const page of pages()) {
      const unknown = await missingOf(db, page.map(entryOf))
      missing.statements.push(...unknown.statements)
      missing.payments.push(...unknown.payments)
      if (all) continue
      const isKnown = unknown.statements.length + unknown.payments.length === 0
      if (isKnown && isEnd) knownEnds++
      isEnd = false
      if (isKnown) break
    }
    if (!all && knownEnds === ENDS) break
  }
  return distinct(missing)
}

function entryOf({ entry }: Dated): Entry {
  return entry
}

/** What the database does not have of these, and what was not accepted as lost. */
export async function missingOf(db: Db, entries: readonly Entry[]): Promise<Missing> {
  const statements = entries.filter((entry) => entry.kind === 'statement')
  const digests = await knownDigests(
    db,
    statements.map(({ digest }) => digest),
  )
  const unknown = statements.filter(({ digest }) => !digests.has(digest))
  const accepted = await acceptedSequences(
    db,
    unknown.map(({ proofId }) => proofId),
  )
  const payments = entries.filter((entry) => entry.kind !== 'statement')
  const txs = [...new Set(payments.map(({ tx }) => tx))]
  const hashes = await knownReceiptHashes(db, txs)
  const closed = payments.some(({ kind }) => kind === 'refund') ? await closedTransactions(db, txs) : new Set()
  return {
    statements: unknown.filter(({ proofId, sequence }) => sequence > (accepted.get(proofId) ?? 0)),
    payments: payments.filter((entry) =>
      entry.kind === 'receipt' ? !hashes.has(entry.receiptHash) : !closed.has(`${entry.network} ${entry.tx}`),
    ),
  }
}

/** An entry may be noted by several processes. Ordered, so that people can read it. */
export function distinct({ statements, payments }: Missing): Missing {
  const byDigest = new Map(statements.map((entry) => [entry.digest, entry]))
  const byPayment = new Map(
    payments.map((entry) => [
      `${entry.network} ${entry.tx} ${entry.kind === 'receipt' ? entry.receiptHash : ''}`,
      entry,
    ]),
  )
  const inOrder = [...byDigest.values()].sort((a, b) =>
    a.proofId === b.proofId ? a.sequence - b.sequence : a.proofId < b.proofId ? -1 : 1,
  )
  return { statements: inOrder, payments: [...byPayment.values()] }
}

/**
 * Whether nonces were accepted that the database no longer has. Each process keeps its last one; those before it were
 * written earlier. A nonce that would be forgotten by now protects nothing any more.
 */
export async function hasLostNonces(db: Db, folder: string, now: number): Promise<boolean> {
  const kept = (await readNonces(folder)).filter(({ forget_at }: NonceTable) => forget_at > now)
  for (const nonce of kept) if (!(await hasNonce(db, nonce))) return true
  return false
}

/** When the newest entry was noted, in Unix seconds; null for an empty logbook. */
export async function newestNote(folder: string): Promise<number | null> {
  let newest: number | null = null
  let ends = 0
  for await (const pages of readBackwards(folder)) {
    for await (const page of pages()) {
      newest = Math.max(newest ?? 0, page.at(-1)?.at ?? 0)
      ends++
      break
    }
    if (ends === ENDS) break
  }
  return newest
}
