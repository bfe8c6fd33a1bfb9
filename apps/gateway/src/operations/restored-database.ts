// A database that is behind: what it lacks, what can be rebuilt from evidence bundles and the chain, and what is lost.

import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import { type UnknownAnchors, unknownAnchors } from '../continuity/anchored.ts'
import { distinct, type Missing, missingInDatabase, missingOf } from '../continuity/compare.ts'
import type { NotedStatement } from '../continuity/entries.ts'
import { closeTransaction, recordLostReceipt, recordLostStatement } from '../continuity/store.ts'
import type { Schema } from '../db/schema.ts'
import type { Actor } from './actors.ts'
import { appendAudit } from './audit.ts'
import { type Publications, type Rebuilt, rebuildStatement } from './rebuild-statement.ts'
import type { OperationsContext } from './room.ts'

export interface Examined extends Missing {
  /** Null where nothing is published, or no node answers. */
  anchors: UnknownAnchors['statements'] | null
}

/** Reads the whole logbook, unlike a gateway that starts. */
export async function examineDatabase(
  { database: { db }, config }: Pick<Context, 'database' | 'config'>,
  publications: Publications | null,
): Promise<Examined> {
  const { logbookDir } = config.continuity
  const noticed = logbookDir ? await missingInDatabase(db, logbookDir, { all: true }) : NOTHING
  const unknown = publications && (await unknownAnchors(db, publications.nodes, publications.signer).catch(() => null))
  const anchors = unknown?.statements ?? null
  const published = await missingOf(db, anchors ?? [])
  const all = distinct({
    statements: [...noticed.statements, ...published.statements],
    payments: noticed.payments,
  })
  return { ...all, anchors }
}

const NOTHING: Missing = { statements: [], payments: [] }

export interface RebuildReport {
  rebuilt: Rebuilt[]
  /** Files that rebuild nothing, and why. */
  refused: { file: string; why: string }[]
  /** Transactions that pay no other quote from now on; their own quotes get their receipts again. */
  closedPayments: number
  /** What only `accept` can settle. */
  left: NotedStatement[]
}

export interface BundleFile {
  file: string
  text: string
}

/** Bundles may come in any order. What is there already is left as it is, so that this can be repeated. */
export async function rebuildDatabase(
  context: OperationsContext,
  actor: Actor,
  {
    bundles,
    publications,
    reason,
  }: { bundles: readonly BundleFile[]; publications: Publications | null; reason: string },
): Promise<RebuildReport> {
  const before = await examineDatabase(context, publications)
  const rebuilt: Rebuilt[] = []
  const refused: RebuildReport['refused'] = []
  for (const { file, text } of inOrder(bundles)) {
    const outcome = await rebuildStatement(context, text, { anchors: before.anchors ?? [], publications })
    if (typeof outcome === 'string') refused.push({ file, why: outcome })
    else if (outcome) rebuilt.push(outcome)
  }
  await context.database.db.transaction().execute(async (tx) => {
    await closePayments(context, tx, before)
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: 'rebuild_database',
      target: 'database',
      reason,
      details: { statements: rebuilt.length, payments: before.payments.length },
    })
  })
  const { statements: left } = await examineDatabase(context, publications)
  return { rebuilt, refused, closedPayments: before.payments.length, left }
}

/** So that each statement finds the one before it. */
function inOrder(bundles: readonly BundleFile[]): BundleFile[] {
  const sequenceOf = ({ text }: BundleFile) => Number(/"sequence"\s*:\s*(\d+)/.exec(text)?.[1] ?? 0)
  return bundles.toSorted((a, b) => sequenceOf(a) - sequenceOf(b))
}

/** The next statement of each proof follows on the highest that is known to be lost. */
export async function acceptLosses(
  context: OperationsContext,
  actor: Actor,
  { publications, reason }: { publications: Publications | null; reason: string },
): Promise<Missing> {
  const missing = await examineDatabase(context, publications)
  await context.database.db.transaction().execute(async (tx) => {
    for (const statement of missing.statements) await recordLostStatement(tx, statement, unixNow(context))
    await closePayments(context, tx, missing)
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: 'accept_losses',
      target: 'database',
      reason,
      details: {
        statements: missing.statements.map(({ proofId, sequence, digest }) => `${proofId} ${sequence} ${digest}`),
        payments: missing.payments.map(({ network, tx: paidBy }) => `${network} ${paidBy}`),
      },
    })
  })
  return missing
}

async function closePayments(context: Context, tx: Transaction<Schema>, { payments }: Missing): Promise<void> {
  for (const payment of payments) {
    if (payment.kind === 'receipt') await recordLostReceipt(tx, payment, unixNow(context))
    else await closeTransaction(tx, payment)
  }
}
