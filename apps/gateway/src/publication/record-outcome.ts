// Records the outcome of a transaction. The publication, the statement's anchor and the status of the attestation
// change together and only once, even if several processes observe the outcome at the same time.

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
  lockAttestationOf,
  type Statement,
  setAnchor,
  setAttestationStatus,
} from './store.ts'

type Parts = Pick<Context, 'database' | 'now'>
type Recorder = Parts & Pick<Context, 'primaryChain' | 'queue' | 'evmRegistry'>
type Landed = Extract<SolanaOutcome, { outcome: 'landed' }>
type Lost = Extract<SolanaOutcome, { outcome: 'failed' | 'expired' }>

/** Returns why the transaction does not publish its statement, or null if it does. */
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

/** For a landed transaction: records when it is final, and handles the rare case that the chain drops its block. */
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
    : new NotPublished('transaction_expired', 'the chain did not include the transaction while it was valid', { tx })
}

export function outcomeUnknown({ tx }: { tx: string }): NotPublished {
  const problem = 'the chain does not show yet whether it included the transaction'
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
  await change(parts, publication, async (tx, { attestation, at, recordDocuments }) => {
    const state = commitment === 'finalized' ? 'finalized' : 'landed'
    const paid = { fee_lamports: costs.feeLamports, rent_lamports: costs.rentLamports }
    if (!(await changePublication(tx, publication, { state, ...paid }))) return
    recordDocuments(outcomeOf(publication, state))
    await setAnchor(tx, publication, anchor)
    await setAttestationStatus(tx, attestation, publication, { status: 'complete', at, error: null })
    await queueEntry(tx, parts, publication, costs.slot)
  })
}

/** Records that this run sent nothing, unless another run has meanwhile sent a transaction. */
export async function recordNotSent(parts: Parts, statement: Statement, problem: NotPublished): Promise<void> {
  await change(parts, statement, async (tx, { attestation, at }) => {
    const sent = await findSent(tx, statement.receipt_id)
    const isSent = sent?.sequence === statement.sequence || (await findAnchor(tx, statement)) !== null
    if (!isSent)
      await setAttestationStatus(tx, attestation, statement, {
        status: 'computed',
        at,
        error: anchorError(problem, at),
      })
  })
}

/** Records that the transaction will never publish its statement. Withdraws the anchor if the chain lost its block. */
export async function recordLost(
  parts: Parts,
  publication: PublicationTable,
  problem: NotPublished,
  feeLamports: number | null = publication.fee_lamports,
): Promise<void> {
  await change(parts, publication, async (tx, { attestation, at, recordDocuments }) => {
    const isPaid = problem.reason === 'transaction_failed'
    const state = isPaid ? 'failed' : 'expired'
    const costs = { fee_lamports: isPaid ? feeLamports : null, rent_lamports: null }
    if (!(await changePublication(tx, publication, { state, ...costs }))) return
    recordDocuments(outcomeOf(publication, state))
    // A transaction that failed on chain has opened no account.
    await releaseSpending(tx, publication.tx, isPaid ? 'registry_rent' : null)
    await setAnchor(tx, publication, null)
    await setAttestationStatus(tx, attestation, publication, {
      status: 'computed',
      at,
      error: anchorError(problem, at),
    })
  })
}

/** The transaction stays open and is resolved later. */
export async function recordPending(parts: Parts, publication: PublicationTable): Promise<NotPublished> {
  const problem = outcomeUnknown(publication)
  await change(parts, publication, async (tx, { attestation, at }) => {
    const isOpen = await changePublication(tx, publication, { state: publication.state })
    if (isOpen)
      await setAttestationStatus(tx, attestation, publication, {
        status: 'computed',
        at,
        error: anchorError(problem, at),
      })
  })
  return problem
}

export async function recordFinalized(parts: Parts, publication: PublicationTable, anchor: Anchor): Promise<void> {
  await change(parts, publication, async (tx, { recordDocuments }) => {
    if (!(await changePublication(tx, publication, { state: 'finalized' }))) return
    recordDocuments(outcomeOf(publication, 'finalized'))
    await setAnchor(tx, publication, { ...anchor, commitment: 'finalized', finalized: true })
  })
}

/** With the outcome in the journal, a restored database need not ask the chain. */
function outcomeOf({ tx }: PublicationTable, state: PublicationTable['state']): DocumentId {
  return { kind: 'publication', key: anchorKey(tx, state) }
}

function change(
  { database, now }: Parts,
  { receipt_id }: Statement,
  write: (tx: Tx, by: { attestation: AttestationTable; at: number; recordDocuments: RecordDocuments }) => Promise<void>,
): Promise<void> {
  return database.commit(async (tx, recordDocuments) => {
    const attestation = await lockAttestationOf(tx, receipt_id)
    await write(tx, { attestation, at: unixNow({ now }), recordDocuments })
  })
}
