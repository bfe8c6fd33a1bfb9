// Brings a database that was set back to where it was: what the journal has is written again. Each document is written
// once, so this can be repeated, and killed at any step.

import { type Place, readJournal } from '@svc/database/journal/journal'
import { isDatabaseUnavailable } from '@svc/database/unavailable'
import { type LogGap, unknownAnchors } from '../../continuity/anchored.ts'
import type { AccessDocument, Document, Entry } from '../../continuity/documents.ts'
import { withAnchored } from '../../continuity/gaps.ts'
import { compareWithJournal, countMissing, type Missing, NOTHING } from '../../continuity/missing.ts'
import { findAwaited, giveUpAbsent } from '../../continuity/replicas/replica.ts'
import type { AwaitedLogbook } from '../../continuity/replicas/store.ts'
import { readTo, setRead } from '../../continuity/store.ts'
import type { Tx } from '../../db/schema.ts'
import { findGap } from '../../log/compare.ts'
import type { Actor } from '../actors.ts'
import { appendAudit } from '../audit.ts'
import type { OperationsContext } from '../room.ts'
import { acceptLosses } from './accept-losses.ts'
import { type BegunLog, beginLog } from './begin-log.ts'
import { restoreAccess } from './restore-access.ts'
import { restoreCheckpoint, restorePublished } from './restore-log.ts'
import { restoreLocker, restoreReceipt, restoreRefund, restoreUnclaimed } from './restore-purchase.ts'
import { restoreChunks, restoreLogAnchor, restorePublication, restoreStatement } from './restore-statement.ts'

export interface Examined {
  missing: Missing
  /** How far the journal was read. */
  ends: Place[]
  /** False where nothing is published, or no node answers. */
  isChainRead: boolean
  /** How the published log is not that of this database; null where it is, or cannot be read. */
  log: LogGap | null
  /** Journals of other machines that were not compared with this database. */
  awaited: AwaitedLogbook[]
}

export async function examineDatabase(context: OperationsContext): Promise<Examined> {
  const { database, continuity, publications, publishedLog } = context
  const { db } = database
  const { place } = continuity
  const { missing, ends } = place ? await compareWithJournal(db, place) : { missing: NOTHING, ends: [] }
  const anchored = publications && (await unknownAnchors(db, publications.nodes, publications.signer).catch(() => null))
  return {
    missing: await withAnchored(db, missing, anchored),
    ends,
    isChainRead: anchored !== null,
    log: await findGap(db, publishedLog).catch(() => null),
    awaited: await findAwaited(database, place),
  }
}

export interface ReplayReport extends Examined {
  /** What was written, by kind. */
  replayed: Partial<Record<Document['kind'], number>>
  /** What could not be, and why. */
  problems: string[]
  /** Statements that were accepted as lost, and machines. */
  accepted: { statements: number; journals: AwaitedLogbook[] }
  /** Where a log began. */
  begun: BegunLog | null
}

export interface ReplayOrder {
  reason: string
  /** What cannot be brought back is lost. */
  accept: boolean
  /** The name of a log that begins in the place of one that cannot go on. */
  newLog?: string | undefined
}

export async function replay(context: OperationsContext, actor: Actor, order: ReplayOrder): Promise<ReplayReport> {
  const { commit } = context.database
  const problems = new Set<string>()
  const replayed = context.continuity.place ? await replayJournal(context, problems) : {}
  const begun = order.newLog === undefined ? null : await beginLog(context, actor, order.newLog, order.reason)
  const unpublished = begun ? null : await replayPublished(context)
  if (unpublished) problems.add(unpublished)
  let left = await examineDatabase(context)
  const accepted: ReplayReport['accepted'] = { statements: 0, journals: [] }
  if (order.accept) {
    accepted.statements = await acceptLosses(context)
    accepted.journals = await giveUpAbsent(context.database)
    await commit((tx) => setRead(tx, left.ends))
    left = await examineDatabase(context)
  }
  await commit((tx) =>
    appendAudit(context, tx, {
      actor: actor.identity,
      action: order.accept ? 'accept_losses' : 'replay',
      target: 'database',
      reason: order.reason,
      details: { replayed, problems: problems.size, accepted: accepted.statements, left: countMissing(left.missing) },
    }),
  )
  return { ...left, replayed, problems: [...problems], accepted, begun }
}

/** A sentence where the log is not what the database has, or cannot be read. */
async function replayPublished(context: OperationsContext): Promise<string | null> {
  try {
    return await restorePublished(context, context.publishedLog)
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error
    return `the published log cannot be read (${(error as Error).message}): replay again when it can`
  }
}

/** Later ones need what earlier ones write: statements and renewals belong to lockers, and lockers to receipts. */
const STEPS: ((document: Document) => boolean)[] = [
  (document) => ['refund', 'unclaimed', 'locker'].includes(document.kind) || isPurchase(document),
  ({ kind }) => kind === 'access',
  (document) => document.kind === 'receipt' && !isPurchase(document),
  ({ kind }) => kind === 'chunks' || kind === 'statement' || kind === 'checkpoint' || kind === 'log_anchor',
  ({ kind }) => kind === 'publication',
]

function isPurchase(document: Document): boolean {
  return document.kind === 'receipt' && document.renewal === null
}

const AT_ONCE = 100

async function replayJournal(context: OperationsContext, problems: Set<string>): Promise<ReplayReport['replayed']> {
  const replayed: ReplayReport['replayed'] = {}
  const write = async (documents: readonly Document[]) => {
    const found = await writeAll(context, documents)
    for (const [i, { kind }] of documents.entries()) {
      const problem = found[i]
      if (problem) problems.add(problem)
      else replayed[kind] = (replayed[kind] ?? 0) + 1
    }
  }
  for (const isDue of STEPS) {
    const access: AccessDocument[] = []
    let page: Document[] = []
    for await (const document of documentsOf(context)) {
      if (!isDue(document)) continue
      if (document.kind === 'access') access.push(document)
      else page.push(document)
      if (page.length < AT_ONCE) continue
      await write(page)
      page = []
    }
    await write(page)
    // All at once: they have an order.
    await write(access)
  }
  return replayed
}

async function* documentsOf({ database, continuity }: OperationsContext): AsyncGenerator<Document> {
  const { place } = continuity
  if (!place) return
  const from = await readTo(database.db)
  for await (const read of readJournal(place.folder, place.sealing, from))
    if ('entry' in read) yield (JSON.parse(read.entry) as Entry).document
}

/** What keeps each of them from being written; null where nothing does. */
async function writeAll(context: OperationsContext, documents: readonly Document[]): Promise<(string | null)[]> {
  const { commit } = context.database
  if (documents.every((document) => document.kind === 'access')) return commit((tx) => restoreAccess(tx, documents))
  if (documents[0]?.kind !== 'publication')
    return commit(async (tx) => {
      const problems: (string | null)[] = []
      for (const document of documents) problems.push(await restore(context, tx, document))
      return problems
    })
  const problems: (string | null)[] = []
  for (const document of documents)
    if (document.kind === 'publication')
      problems.push(await restorePublication(context, context.publications?.nodes ?? null, document))
  return problems
}

async function restore(context: OperationsContext, tx: Tx, document: Document): Promise<string | null> {
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
    case 'log_anchor':
      return restoreLogAnchor(tx, document)
    case 'checkpoint':
      return restoreCheckpoint(tx, document)
    case 'access':
    case 'publication':
      // It asks the chain, and no transaction may wait for that.
      throw new Error('these are restored by themselves')
  }
}
