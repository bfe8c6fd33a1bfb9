// Restores what a database that was set back lacks from the journal. Each document is written once, so a replay can be
// repeated, and interrupted at any step.

import { type Position, readJournal } from '@svc/database/journal/journal'
import { isDatabaseUnavailable } from '@svc/database/unavailable'
import type { Context } from '../../../context.ts'
import { type LogGap, unknownAnchors } from '../../../continuity/anchored.ts'
import type { Document, Entry, LogAnchorDocument, PublicationDocument } from '../../../continuity/documents.ts'
import { withAnchored } from '../../../continuity/gaps.ts'
import { compareWithJournal, countMissing, type Missing, NOTHING } from '../../../continuity/missing.ts'
import { abandonMissingJournals, findMissingJournals } from '../../../continuity/replicas/replica.ts'
import type { MissingJournal } from '../../../continuity/replicas/store.ts'
import { readTo, setRead } from '../../../continuity/store.ts'
import type { Tx } from '../../../db/schema.ts'
import { findGap } from '../../../publication/log/compare.ts'
import type { Actor } from '../actors.ts'
import { appendAudit } from '../audit.ts'
import { acceptLosses } from './accept-losses.ts'
import { beginLog, type StartedLog } from './begin-log.ts'
import { findLostFiles, type LostFiles } from './lost-files.ts'
import { restoreAccess } from './restore-access.ts'
import { hasOutcome, restoreOutcome, restoreSent } from './restore-anchors.ts'
import { restoreCheckpoint, restorePublished } from './restore-log.ts'
import { restoreLocker, restoreReceipt, restoreRefund, restoreUnclaimed } from './restore-purchase.ts'
import { restoreChunks, restoreStatement } from './restore-statement.ts'
import type { Restored } from './restored.ts'

export interface Examined {
  missing: Missing
  /** How far the journal was read. */
  ends: Position[]
  /** False if nothing is published or no node answers. */
  isChainRead: boolean
  /** How the published log differs from the database's; null if it does not, or cannot be read. */
  log: LogGap | null
  /** Journals of other machines that were not compared with this database. */
  missingJournals: MissingJournal[]
}

export async function examineDatabase(context: Context): Promise<Examined> {
  const { database, continuity, primaryChain, publishedLog } = context
  const { db } = database
  const { location } = continuity
  const { missing, ends } = location ? await compareWithJournal(db, location) : { missing: NOTHING, ends: [] }
  const anchored = primaryChain && (await unknownAnchors(db, primaryChain.nodes, primaryChain.signer).catch(() => null))
  return {
    missing: await withAnchored(db, missing, anchored),
    ends,
    isChainRead: anchored !== null,
    log: await findGap(db, publishedLog).catch(() => null),
    missingJournals: await findMissingJournals(database, location),
  }
}

export interface ReplayReport extends Examined {
  /** What was written, by kind. */
  replayed: Counts
  /** What could not be written, and why. */
  problems: string[]
  /** What was accepted as lost; null if that was not ordered. */
  accepted: Accepted | null
  lostFiles: LostFiles
  /** The new log, if one was started. */
  begun: StartedLog | null
}

export interface Accepted {
  /** Documents in the journal or on chain, by kind. */
  counts: Counts
  /** How many proofs continue after a lost statement. */
  proofs: number
  /** Files with unreadable lines, and the reasons. */
  unreadable: string[]
  /** Entries of the logbook of release 1.1.0. */
  earlier: number
  /** Journals of machines that are gone. */
  journals: MissingJournal[]
}

type Counts = Missing['counts']

export interface ReplayOrder {
  reason: string
  /** Accept as lost what cannot be restored. */
  accept: boolean
  /** The name of a new log that replaces one that cannot continue. */
  newLog?: string | undefined
}

const MAX_AUDITED = 50

export async function replay(context: Context, actor: Actor, order: ReplayOrder): Promise<ReplayReport> {
  const { commit } = context.database
  const replayed: Counts = {}
  let problems = await replayJournal(context, replayed)
  const begun = order.newLog === undefined ? null : await beginLog(context, actor, order.newLog, order.reason)
  const unpublished = begun ? null : await replayPublished(context)
  // The published log may have what documents of the journal depend on.
  if (problems.size > 0) problems = await replayJournal(context, replayed)
  let left = await examineDatabase(context)
  let accepted: Accepted | null = null
  if (order.accept) {
    const { statement = 0 } = left.missing.counts
    const proofs = await acceptLosses(context)
    // Statements may now follow the gap.
    const regained: Counts = {}
    problems = await replayJournal(context, regained)
    add(replayed, regained)
    left = await examineDatabase(context)
    const { counts, unreadable, earlier } = left.missing
    const lost = statement - (regained.statement ?? 0)
    const journals = await abandonMissingJournals(context.database)
    accepted = { counts: { ...counts, ...(lost > 0 && { statement: lost }) }, proofs, unreadable, earlier, journals }
  }
  const sentences = [...new Set(problems.values()), ...(unpublished ? [unpublished] : [])]
  await commit(async (tx) => {
    // Losses recorded in the audit entry are not checked again.
    if (accepted) await setRead(tx, left.ends)
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: accepted ? 'accept_losses' : 'replay',
      target: 'database',
      reason: order.reason,
      details: {
        replayed,
        problems: sentences.slice(0, MAX_AUDITED),
        ...(accepted ? { accepted } : { left: countMissing(left.missing) }),
      },
    })
  })
  if (accepted) left = await examineDatabase(context)
  const lostFiles = await findLostFiles(context.database.db)
  return { ...left, replayed, problems: sentences, accepted, lostFiles, begun }
}

function add(counts: Counts, more: Counts): void {
  for (const kind of Object.keys(more) as Document['kind'][]) counts[kind] = (counts[kind] ?? 0) + (more[kind] ?? 0)
}

/** Returns a sentence if the log does not match the database or cannot be read. */
async function replayPublished(context: Context): Promise<string | null> {
  try {
    return await restorePublished(context, context.publishedLog)
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    return `the published log cannot be read (${(error as Error).message}): replay again when it is readable`
  }
}

interface Step {
  isDue(document: Document): boolean
  /** For documents with an order across the files of several processes: they are written together. */
  inOrder?: true
  /** The step waits for the chain, so it commits each document separately. */
  asksChain?: true
}

/** Later steps need what earlier ones write: statements and renewals belong to lockers, and lockers to receipts. */
const STEPS: Step[] = [
  { isDue: (document) => ['refund', 'unclaimed', 'locker'].includes(document.kind) || isPurchase(document) },
  { isDue: ({ kind }) => kind === 'access', inOrder: true },
  { isDue: (document) => document.kind === 'receipt' && !isPurchase(document), inOrder: true },
  { isDue: ({ kind }) => kind === 'chunks' || kind === 'statement' || kind === 'checkpoint' },
  { isDue: (document) => isAnchor(document) && hasOutcome(document) },
  { isDue: (document) => isAnchor(document) && !hasOutcome(document), asksChain: true },
]

function isPurchase(document: Document): boolean {
  return document.kind === 'receipt' && document.renewal === null
}

function isAnchor(document: Document): document is PublicationDocument | LogAnchorDocument {
  return document.kind === 'publication' || document.kind === 'log_anchor'
}

const AT_ONCE = 100
/** Documents of large lockers have long lists of files. */
const CHARACTERS_AT_ONCE = 8_000_000

/** Sentences, by the names of documents. */
type Problems = Map<string, string>

/**
 * Repeats until nothing more is written: a later file may have what an earlier one lacks. Adds to the counts of what
 * was written.
 */
async function replayJournal(context: Context, replayed: Counts): Promise<Problems> {
  let problems: Problems | null = null
  for (;;) {
    const written: Counts = {}
    problems = await replayOnce(context, written, problems)
    add(replayed, written)
    if (problems.size === 0 || Object.keys(written).length === 0) return problems
  }
}

/** `only`: the documents that were not written the last time. */
async function replayOnce(context: Context, written: Counts, only: Problems | null): Promise<Problems> {
  const problems: Problems = new Map()
  const write = async (step: Step, documents: readonly Document[]) => {
    const restored = await restoreAll(context, step, documents)
    for (const [i, document] of documents.entries()) {
      const outcome = restored[i]
      if (outcome === 'written') add(written, { [document.kind]: 1 })
      else if (outcome && outcome !== 'known') problems.set(nameOf(document), outcome.problem)
    }
  }
  for (const step of STEPS) {
    let page: Entry[] = []
    let characters = 0
    for await (const { entry, length } of entriesOf(context)) {
      if (!step.isDue(entry.document) || (only && !only.has(nameOf(entry.document)))) continue
      page.push(entry)
      characters += length
      if (step.inOrder || (page.length < AT_ONCE && characters < CHARACTERS_AT_ONCE)) continue
      await write(step, documentsOf(page))
      page = []
      characters = 0
    }
    await write(step, documentsOf(step.inOrder ? page.toSorted(byTime) : page))
  }
  return problems
}

function nameOf({ kind, key }: Document): string {
  return `${kind} ${key}`
}

function documentsOf(entries: readonly Entry[]): Document[] {
  return entries.map(({ document }) => document)
}

/** Orders renewals in the same second by when they were paid; changes of access have times of their own. */
function byTime(a: Entry, b: Entry): number {
  return a.at - b.at || renewedAt(a) - renewedAt(b)
}

function renewedAt({ document }: Entry): number {
  return (document.kind === 'receipt' && document.renewal?.renewed_at) || 0
}

async function* entriesOf({ database, continuity }: Context): AsyncGenerator<{ entry: Entry; length: number }> {
  const { location } = continuity
  if (!location) return
  for await (const read of readJournal(location.folder, location.sealing, await readTo(database.db)))
    if ('entry' in read) yield { entry: JSON.parse(read.entry) as Entry, length: read.entry.length }
}

async function restoreAll(context: Context, step: Step, documents: readonly Document[]): Promise<Restored[]> {
  const { commit } = context.database
  const restored: Restored[] = []
  if (step.asksChain) {
    for (const document of documents) if (isAnchor(document)) restored.push(await restoreSent(context, document))
    return restored
  }
  if (documents.length === 0) return restored
  return commit(async (tx) => {
    if (documents.every((document) => document.kind === 'access')) return restoreAccess(tx, documents)
    const found: Restored[] = []
    for (const document of documents) found.push(await restore(context, tx, document))
    return found
  })
}

async function restore(context: Context, tx: Tx, document: Document): Promise<Restored> {
  switch (document.kind) {
    case 'receipt':
      return restoreReceipt(context, tx, document)
    case 'refund':
      return restoreRefund(tx, document)
    case 'unclaimed':
      return restoreUnclaimed(tx, document)
    case 'locker':
      return restoreLocker(tx, document)
    case 'chunks':
      return restoreChunks(tx, document)
    case 'statement':
      return restoreStatement(context, tx, document)
    case 'checkpoint':
      return restoreCheckpoint(tx, document)
    case 'publication':
    case 'log_anchor':
      return restoreOutcome(context, tx, document)
    case 'access':
      throw new Error('changes of access are restored together')
  }
}
