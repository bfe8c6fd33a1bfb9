// Compares the database with the journal: finds documents of the journal that the database lacks.

import { endingOf, JOURNAL, readFolderId } from '@svc/database/journal/folder'
import { findLosses, type Position, readJournal } from '@svc/database/journal/journal'
import type { Sealing } from '@svc/database/journal/sealing'
import { isSqlite } from '@svc/database/prepared'
import type { Db } from '../db/schema.ts'
import { type Document, type Entry, hasChunks, type StatementDocument } from './documents.ts'
import { compareEarlier } from './earlier-logbook.ts'
import { byProof, type NamedStatement, unknownStatements } from './statements.ts'
import { hasCheckpoint, hasLogAnchorOf, hasRefund, hasUnclaimed, knownKeys, readTo } from './store.ts'

export interface Missing {
  /** By kind. */
  counts: Partial<Record<Document['kind'], number>>
  /** Some of the missing statements, the oldest first. */
  statements: NamedStatement[]
  /** When the oldest of them was signed, in Unix seconds. */
  since: number | null
  /** Files with unreadable lines, and the reasons. */
  unreadable: string[]
  /** How many missing entries are in the logbook of release 1.1.0. */
  earlier: number
}

export const NOTHING: Missing = { counts: {}, statements: [], since: null, unreadable: [], earlier: 0 }

export function countMissing({ counts, unreadable, earlier }: Missing): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0) + unreadable.length + earlier
}

/** Grouped under the names that people read. */
export function missingByName(missing: Missing) {
  const { receipt = 0, refund = 0, unclaimed = 0, statement = 0, access = 0 } = missing.counts
  const named = receipt + refund + unclaimed + statement + access
  return {
    statements: statement,
    payments: receipt + refund + unclaimed,
    revocations: access,
    others: countMissing(missing) - named,
  }
}

export interface JournalLocation {
  folder: string
  sealing: Sealing
  retentionDays: number
}

export interface Compared {
  missing: Missing
  /** How far the files were read. */
  ends: Position[]
}

const PAGE = 500
const MAX_CHARACTERS = 4_000_000
const MAX_NAMED = 100

/** Reads the entries that the database is not yet known to have. */
export async function compareWithJournal(db: Db, { folder, sealing }: JournalLocation): Promise<Compared> {
  const from = await readTo(db)
  const ends = new Map<string, number>()
  const unreadable = new Map<string, string>()
  let page: Entry[] = []
  let characters = 0
  const tally = createTally()
  for await (const { position, ...read } of readJournal(folder, sealing, from)) {
    ends.set(position.file, position.end)
    if ('problem' in read) unreadable.set(position.file, `${position.file} ${read.problem}`)
    // Chunks have no meaning without their statements.
    else if (!hasChunks(read.entry)) {
      page.push(JSON.parse(read.entry) as Entry)
      characters += read.entry.length
    }
    if (page.length < PAGE && characters < MAX_CHARACTERS) continue
    tally.add(await missingAmong(db, page))
    page = []
    characters = 0
  }
  tally.add(await missingAmong(db, page))
  const losses = await findLosses(folder, await ownFiles(db, folder, from))
  for (const { position, problem } of losses) unreadable.set(position.file, `${position.file} ${problem}`)
  const earlier = await compareEarlier(db, folder, from)
  return {
    missing: { ...tally.total(), unreadable: [...unreadable.values()], earlier: earlier.missing },
    ends: [...[...ends].map(([file, end]) => ({ file, end })), ...losses.map(({ position }) => position), ...earlier.ends],
  }
}

/** Machines that share a PostgreSQL database may each have a folder. */
async function ownFiles(db: Db, folder: string, known: ReadonlyMap<string, number>): Promise<Map<string, number>> {
  const id = isSqlite(db) ? null : await readFolderId(folder)
  const ending = id === null ? JOURNAL : endingOf(id)
  return new Map([...known].filter(([file]) => file.endsWith(ending)))
}

function createTally() {
  const counted = new Set<string>()
  const counts: Missing['counts'] = {}
  const statements: NamedStatement[] = []
  let since: number | null = null
  return {
    add(entries: readonly Entry[]) {
      for (const { at, document } of entries) {
        // Several processes may have written the same document.
        const name = `${document.kind} ${document.key}`
        if (counted.has(name)) continue
        counted.add(name)
        counts[document.kind] = (counts[document.kind] ?? 0) + 1
        since = Math.min(since ?? at, at)
        if (document.kind === 'statement' && statements.length < MAX_NAMED) statements.push(nameOf(document))
      }
    },
    total: () => ({ counts, statements: statements.toSorted(byProof), since }),
  }
}

function nameOf({ key, proofId, statement }: StatementDocument): NamedStatement {
  return { proofId, sequence: statement.sequence, digest: key }
}

/** The entries whose documents the database lacks. */
async function missingAmong(db: Db, entries: readonly Entry[]): Promise<Entry[]> {
  const keysOf = (kind: Document['kind']) =>
    entries.flatMap(({ document }) => (document.kind === kind ? [document.key] : []))
  const known = {
    receipt: await knownKeys(db, 'receipt', keysOf('receipt')),
    locker: await knownKeys(db, 'locker', keysOf('locker')),
    access: await knownKeys(db, 'access', keysOf('access')),
    publication: await knownKeys(db, 'publication', keysOf('publication')),
  }
  const lost = await unknownStatements(
    db,
    entries.flatMap(({ document }) => (document.kind === 'statement' ? [nameOf(document)] : [])),
  )
  const digests = new Set(lost.map(({ digest }) => digest))
  const missing: Entry[] = []
  for (const entry of entries) {
    const { document } = entry
    const isKnown =
      document.kind === 'chunks' ||
      (document.kind === 'statement'
        ? !digests.has(document.key)
        : document.kind === 'refund'
          ? await hasRefund(db, document.refund)
          : document.kind === 'unclaimed'
            ? await hasUnclaimed(db, document.unclaimed)
            : document.kind === 'log_anchor'
              ? await hasLogAnchorOf(db, document.anchor.size)
              : document.kind === 'checkpoint'
                ? await hasCheckpoint(db, document)
                : known[document.kind].has(document.key))
    if (!isKnown) missing.push(entry)
  }
  return missing
}
