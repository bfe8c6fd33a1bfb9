// Records the outcome of a transaction. The publication, the statement's anchor and the status of the attestation change
// together, and only once, even when several processes see the outcome at the same time.

import type { Anchor } from '@svc/api/attestations'
import type { Costs } from '@svc/payments/solana/nodes'
import type { SolanaOutcome } from '@svc/payments/solana/outcome'
import { releaseSpending } from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'
import type { DocumentId, RecordDocuments } from '../continuity/document-id.ts'
import { anchorKey } from '../continuity/documents.ts'
import type { AttestationTable, PublicationTable, Tx } from '../db/schema.ts'
import { anchorError, NotPublished } from './errors.ts'
import { queueEntry } from './evm-registry/entries.ts'
import {
  changePublication,
  findAnchor,
  findSent,
  lockStanding,
  type Statement,
  setAnchor,
  setStanding,
} from './store.ts'

type Parts = Pick<Context, 'database' | 'now'>
type Recorder = Parts & Pick<Context, 'primaryChain' | 'queue' | 'evmRegistry'>
type Landed = Extract<SolanaOutcome, { outcome: 'landed' }>
type Lost = Extract<SolanaOutcome, { outcome: 'failed' | 'expired' }>

/** Answers why the transaction does not publish its statement; null when it does. */
export async function recordOutcome(
  parts: Recorder,
  sent: PublicationTable,
  found: SolanaOutcome,
): Promise<NotPublished | null> {
  if (sent.state === 'landed') return recordLater(parts, sent, found)
  if (found.outcome === 'pending') return recordPending(parts, sent)
  if (found.outcome === 'landed') {
    const costs = await parts.primaryChain!.nodes.costs(sent.tx).catch(() => null)
    if (!costs) return recordPending(parts, sent)
    await recordLanded(parts, sent, found, costs)
    return null
  }
  const problem = lostTransaction(sent, found)
  // A transaction that failed on chain has cost its fee.
  const costs = found.outcome === 'failed' ? await parts.primaryChain!.nodes.costs(sent.tx).catch(() => null) : null
  await recordLost(parts, sent, problem, costs?.feeLamports)
  return problem
}

/** Once it has landed: when it is final, and for the rare case that the chain drops a confirmed block. */
async function recordLater(
  parts: Recorder,
  landed: PublicationTable,
  found: SolanaOutcome,
): Promise<NotPublished | null> {
  const { database, queue } = parts
  if (found.outcome === 'pending') return null
  if (found.outcome === 'landed') {
    const anchor = found.commitment === 'finalized' ? await findAnchor(database.db, landed) : null
    if (anchor) await recordFinalized(parts, landed, anchor)
    return null
  }
  const problem = lostTransaction(landed, found)
  const { receipt_id } = landed
  await recordLost(parts, landed, problem)
  await database.commit((tx) => queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id }))
  return problem
}

export function lostTransaction({ tx }: Pick<PublicationTable, 'tx'>, lost: Lost): NotPublished {
  return lost.outcome === 'failed'
    ? new NotPublished('transaction_failed', lost.error, { tx })
    : new NotPublished('transaction_expired', 'the chain did not take it while it was valid', { tx })
}

export function outcomeUnknown({ tx }: { tx: string }): NotPublished {
  const problem = 'it is not known yet whether the chain took the transaction'
  return new NotPublished('outcome_unknown', problem, { tx, isAmbiguous: true })
}

export async function recordLanded(
  parts: Recorder,
  publication: PublicationTable,
  { commitment }: Landed,
  costs: Costs,
): Promise<void> {
  const anchor: Anchor = {
    ...(JSON.parse(publication.draft) as Anchor),
    slot: costs.slot,
    block_time: costs.blockTime,
    fee_lamports: costs.feeLamports,
    commitment,
    finalized: commitment === 'finalized',
  }
  await change(parts, publication, async (tx, { standing, at, note }) => {
    const state = commitment === 'finalized' ? 'finalized' : 'landed'
    const paid = { fee_lamports: costs.feeLamports, rent_lamports: costs.rentLamports }
    if (!(await changePublication(tx, publication, { state, ...paid }))) return
    note(outcomeOf(publication, state))
    await setAnchor(tx, publication, anchor)
    await setStanding(tx, standing, publication, { status: 'complete', at, error: null })
    await queueEntry(tx, parts, publication, costs.slot)
  })
}

/** Records that this run sent nothing, unless another run has sent a transaction in the meantime. */
export async function recordNotSent(parts: Parts, statement: Statement, problem: NotPublished): Promise<void> {
  await change(parts, statement, async (tx, { standing, at }) => {
    const sent = await findSent(tx, statement.receipt_id)
    const isSent = sent?.sequence === statement.sequence || (await findAnchor(tx, statement)) !== null
    if (!isSent) await setStanding(tx, standing, statement, { status: 'computed', at, error: anchorError(problem, at) })
  })
}

/** Records that the transaction will never publish its statement. The anchor is withdrawn if the chain lost its block. */
export async function recordLost(
  parts: Parts,
  publication: PublicationTable,
  problem: NotPublished,
  feeLamports: number | null = publication.fee_lamports,
): Promise<void> {
  await change(parts, publication, async (tx, { standing, at, note }) => {
    const isPaid = problem.reason === 'transaction_failed'
    const state = isPaid ? 'failed' : 'expired'
    const costs = { fee_lamports: isPaid ? feeLamports : null, rent_lamports: null }
    if (!(await changePublication(tx, publication, { state, ...costs }))) return
    note(outcomeOf(publication, state))
    // A transaction that failed on chain has opened no account.
    await releaseSpending(tx, publication.tx, isPaid ? 'registry_rent' : null)
    await setAnchor(tx, publication, null)
    await setStanding(tx, standing, publication, { status: 'computed', at, error: anchorError(problem, at) })
  })
}

/** The transaction stays open and is resolved later. */
export async function recordPending(parts: Parts, publication: PublicationTable): Promise<NotPublished> {
  const problem = outcomeUnknown(publication)
  await change(parts, publication, async (tx, { standing, at }) => {
    const isOpen = await changePublication(tx, publication, { state: publication.state })
    if (isOpen)
      await setStanding(tx, standing, publication, { status: 'computed', at, error: anchorError(problem, at) })
  })
  return problem
}

export async function recordFinalized(parts: Parts, publication: PublicationTable, anchor: Anchor): Promise<void> {
  await change(parts, publication, async (tx, { note }) => {
    if (!(await changePublication(tx, publication, { state: 'finalized' }))) return
    note(outcomeOf(publication, 'finalized'))
    await setAnchor(tx, publication, { ...anchor, commitment: 'finalized', finalized: true })
  })
}

/** With it in the journal, a restored database need not ask the chain. */
function outcomeOf({ tx }: PublicationTable, state: PublicationTable['state']): DocumentId {
  return { kind: 'publication', key: anchorKey(tx, state) }
}

function change(
  { database, now }: Parts,
  { receipt_id }: Statement,
  write: (tx: Tx, by: { standing: AttestationTable; at: number; note: RecordDocuments }) => Promise<void>,
): Promise<void> {
  return database.commit(async (tx, note) => {
    const standing = await lockStanding(tx, receipt_id)
    await write(tx, { standing, at: unixNow({ now }), note })
  })
}
