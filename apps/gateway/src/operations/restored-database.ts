// A database that is behind: what it lacks, what can be rebuilt from evidence bundles and the chain, and what is lost.

import type { Provider } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../context.ts'
import { type UnknownAnchors, unknownAnchors } from '../continuity/anchored.ts'
import { distinct, type Missing, missingInDatabase, missingOf, NOTHING } from '../continuity/compare.ts'
import type { NotedStatement } from '../continuity/entries.ts'
import type { Publications } from '../continuity/gaps.ts'
import { readLogbookId } from '../continuity/logbook-files.ts'
import { findAwaited, giveUpAbsent } from '../continuity/replicas/replica.ts'
import type { AwaitedLogbook } from '../continuity/replicas/store.ts'
import { describeRevoked } from '../continuity/revoked.ts'
import { closeTransaction, recordLostReceipt, recordLostStatement } from '../continuity/store.ts'
import type { Tx } from '../db/schema.ts'
import type { Actor } from './actors.ts'
import { appendAudit } from './audit.ts'
import { type RestoredReceipt, readReceipt, rebuildReceipt } from './rebuild-receipt.ts'
import { type Rebuilt, rebuildStatement } from './rebuild-statement.ts'
import { repeatRevocations } from './repeat-revocations.ts'
import type { OperationsContext } from './room.ts'

/** It heals a database that is behind. */
const WHILE_BEHIND = { whileBehind: true }

export interface Examined extends Missing {
  /** Null where nothing is published, or no node answers. */
  anchors: UnknownAnchors['statements'] | null
  /** Logbooks of other machines that were not compared with this database. */
  awaited: AwaitedLogbook[]
}

/** Reads the whole logbook, unlike a gateway that starts. */
export async function examineDatabase(
  { database, config }: Pick<Context, 'database' | 'config'>,
  publications: Publications | null,
): Promise<Examined> {
  const { db } = database
  const { logbookDir } = config.continuity
  const noticed = logbookDir ? await missingInDatabase(db, logbookDir, { all: true }) : NOTHING
  const unknown = publications && (await unknownAnchors(db, publications.nodes, publications.signer).catch(() => null))
  const anchors = unknown?.statements ?? null
  const published = await missingOf(db, anchors ?? [])
  const awaited = await findAwaited(database, logbookDir && (await readLogbookId(logbookDir)))
  return { ...distinct(noticed, published), anchors, awaited }
}

export interface RebuildReport {
  rebuilt: Rebuilt[]
  restored: RestoredReceipt[]
  /** Files that rebuild nothing, and why. */
  refused: { file: string; why: string }[]
  /** Transactions that pay no other quote from now on; their own quotes get their receipts again. */
  closedPayments: number
  repeatedRevocations: number
  /** What only `accept` can settle. */
  left: NotedStatement[]
  awaited: AwaitedLogbook[]
}

interface BundleFile {
  file: string
  text: string
}

export interface RebuildOrder {
  /** Receipts and evidence bundles. */
  files: readonly BundleFile[]
  /** Of receipts of which the logbook does not say what was sold. */
  provider?: Provider
  publications: Publications | null
  reason: string
}

/** Files may come in any order. What is there already is left as it is, so that this can be repeated. */
export async function rebuildDatabase(
  context: OperationsContext,
  actor: Actor,
  { files, provider, publications, reason }: RebuildOrder,
): Promise<RebuildReport> {
  const before = await examineDatabase(context, publications)
  const { commit } = context.database
  await commit(async (tx) => {
    await closePayments(context, tx, before)
    await repeatRevocations(tx, before.revocations)
  }, WHILE_BEHIND)
  const restored: RestoredReceipt[] = []
  const rebuilt: Rebuilt[] = []
  const refused: RebuildReport['refused'] = []
  // Statements belong to lockers, and renewals do, too.
  for (const { file, receipt } of receiptsIn(files)) {
    const outcome = await rebuildReceipt(context, receipt, provider)
    if (typeof outcome === 'string') refused.push({ file, why: outcome })
    else if (outcome) restored.push(outcome)
  }
  for (const { file, text } of inOrder(files.filter(({ text }) => !readReceipt(text)))) {
    const outcome = await rebuildStatement(context, text, { anchors: before.anchors ?? [], publications })
    if (typeof outcome === 'string') refused.push({ file, why: outcome })
    else if (outcome) rebuilt.push(outcome)
  }
  await commit(async (tx) => {
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: 'rebuild_database',
      target: 'database',
      reason,
      details: {
        statements: rebuilt.length,
        receipts: restored.map(({ receipt_id }) => receipt_id),
        payments: before.payments.length,
        revocations: before.revocations.map(({ revoked }) => describeRevoked(revoked)),
      },
    })
  }, WHILE_BEHIND)
  const { statements: left, awaited } = await examineDatabase(context, publications)
  const { payments, revocations } = before
  return {
    rebuilt,
    restored,
    refused,
    closedPayments: payments.length,
    repeatedRevocations: revocations.length,
    left,
    awaited,
  }
}

/** Renewals after the lockers that they are for. */
function receiptsIn(files: readonly BundleFile[]): { file: string; receipt: SignedReceipt }[] {
  const receipts = files.flatMap(({ file, text }) => {
    const receipt = readReceipt(text)
    return receipt ? [{ file, receipt }] : []
  })
  return receipts.toSorted((a, b) => Number(a.receipt.extends !== undefined) - Number(b.receipt.extends !== undefined))
}

/** So that each statement finds the one before it. */
function inOrder(bundles: readonly BundleFile[]): BundleFile[] {
  const sequenceOf = ({ text }: BundleFile) => Number(/"sequence"\s*:\s*(\d+)/.exec(text)?.[1] ?? 0)
  return bundles.toSorted((a, b) => sequenceOf(a) - sequenceOf(b))
}

export interface AcceptReport extends Missing {
  /** Logbooks of machines that are gone, which nobody waits for any more. */
  givenUp: AwaitedLogbook[]
}

/** The next statement of each proof follows on the highest that is known to be lost. */
export async function acceptLosses(
  context: OperationsContext,
  actor: Actor,
  { publications, reason }: { publications: Publications | null; reason: string },
): Promise<AcceptReport> {
  const missing = await examineDatabase(context, publications)
  await context.database.commit(async (tx) => {
    for (const statement of missing.statements) await recordLostStatement(tx, statement, unixNow(context))
    await closePayments(context, tx, missing)
    await repeatRevocations(tx, missing.revocations)
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: 'accept_losses',
      target: 'database',
      reason,
      details: {
        statements: missing.statements.map(({ proofId, sequence, digest }) => `${proofId} ${sequence} ${digest}`),
        payments: missing.payments.map(({ network, tx: paidBy }) => `${network} ${paidBy}`),
        revocations: missing.revocations.map(({ revoked }) => describeRevoked(revoked)),
      },
    })
  }, WHILE_BEHIND)
  return { ...missing, givenUp: await giveUpAbsent(context.database) }
}

async function closePayments(context: Context, tx: Tx, { payments }: Missing): Promise<void> {
  for (const payment of payments) {
    if (payment.kind === 'receipt') await recordLostReceipt(tx, payment, unixNow(context))
    else await closeTransaction(tx, payment)
  }
}
