// Holds the database against the logbook: what was promised and is not there.

import type { NonceTable } from '@svc/guard/tables'
import type { Db } from '../db/schema.ts'
import type { Entry, NotedReceipt, NotedRefund, NotedRevocation, NotedStatement } from './entries.ts'
import { ALIVE_MS, type Dated, readBackwards, readNonces } from './logbook-files.ts'
import {
  acceptedSequences,
  closedTransactions,
  hasNonce,
  knownDigests,
  knownReceiptHashes,
  knownRevocations,
} from './store.ts'

export interface Missing {
  statements: NotedStatement[]
  payments: (NotedReceipt | NotedRefund)[]
  revocations: NotedRevocation[]
}

export const NOTHING: Missing = { statements: [], payments: [], revocations: [] }

export function countMissing({ statements, payments, revocations }: Missing): number {
  return statements.length + payments.length + revocations.length
}

/** So many files are read in any case. */
const ENDS = 20

/**
 * Reads each file from its end up to a page that is known as a whole, and no file that was last touched well before an
 * entry that is known: a database is set back as a whole. `all` reads everything: for people who repaired a database by
 * hand.
 */
export async function missingInDatabase(db: Db, folder: string, { all = false } = {}): Promise<Missing> {
  const missing: Missing[] = []
  let knownEnds = 0
  let newestKnown = 0
  for await (const { touchedMs, pages } of readBackwards(folder)) {
    if (!all && knownEnds >= ENDS && touchedMs < newestKnown * 1000 - ALIVE_MS) break
    let isEnd = true
    for await (const page of pages()) {
      const unknown = await missingOf(db, page.map(entryOf))
      missing.push(unknown)
      if (all) continue
      const isKnown = countMissing(unknown) === 0
      if (isKnown && isEnd) {
        knownEnds++
        newestKnown = Math.max(newestKnown, page.at(-1)?.at ?? 0)
      }
      isEnd = false
      if (isKnown) break
    }
  }
  return distinct(...missing)
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
  const payments = entries.filter((entry) => entry.kind === 'receipt' || entry.kind === 'refund')
  const txs = [...new Set(payments.map(({ tx }) => tx))]
  const hashes = await knownReceiptHashes(db, txs)
  const revocations = entries.filter((entry) => entry.kind === 'revocation')
  const revoked = await knownRevocations(
    db,
    revocations.map(({ id }) => id),
  )
  const closed = payments.some(({ kind }) => kind === 'refund') ? await closedTransactions(db, txs) : new Set()
  return {
    statements: unknown.filter(({ proofId, sequence }) => sequence > (accepted.get(proofId) ?? 0)),
    payments: payments.filter((entry) =>
      entry.kind === 'receipt' ? !hashes.has(entry.receiptHash) : !closed.has(`${entry.network} ${entry.tx}`),
    ),
    revocations: revocations.filter(({ id }) => !revoked.has(id)),
  }
}

/**
 * An entry may be noted by several processes. Statements are ordered, so that people can read them, and revocations by
 * their time, so that they can be repeated.
 */
export function distinct(...missing: Missing[]): Missing {
  const byDigest = new Map(missing.flatMap(({ statements }) => statements).map((entry) => [entry.digest, entry]))
  const byPayment = new Map(
    missing
      .flatMap(({ payments }) => payments)
      .sort((a, b) => Number(hasSale(a)) - Number(hasSale(b)))
      .map((entry) => [`${entry.network} ${entry.tx} ${entry.kind === 'receipt' ? entry.receiptHash : ''}`, entry]),
  )
  const byId = new Map(missing.flatMap(({ revocations }) => revocations).map((entry) => [entry.id, entry]))
  return {
    statements: [...byDigest.values()].sort((a, b) =>
      a.proofId === b.proofId ? a.sequence - b.sequence : a.proofId < b.proofId ? -1 : 1,
    ),
    payments: [...byPayment.values()],
    revocations: [...byId.values()].sort(
      (a, b) => a.revokedAt - b.revokedAt || Number(isStrict(a)) - Number(isStrict(b)),
    ),
  }
}

/** A receipt has two lines, of which one may be cut off. */
function hasSale(entry: NotedReceipt | NotedRefund): boolean {
  return entry.kind === 'receipt' && entry.sale !== null
}

/** Of two in the same second, the one that lifts a restriction does not count. */
function isStrict({ revoked }: NotedRevocation): boolean {
  return revoked.what !== 'restriction' || revoked.restriction !== null
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
  for await (const { pages } of readBackwards(folder)) {
    for await (const page of pages()) {
      newest = Math.max(newest ?? 0, page.at(-1)?.at ?? 0)
      ends++
      break
    }
    if (ends === ENDS) break
  }
  return newest
}
