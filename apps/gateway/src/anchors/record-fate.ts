// Writes down what became of a transaction: the publication, the statement's anchor and where the attestation stands
// change together or not at all, and only once, whoever finds out.

import type { Anchor } from '@svc/api/attestations'
import type { Transaction } from 'kysely'
import type { Publishing } from '../attestations/publishing.ts'
import { type Context, unixNow } from '../context.ts'
import type { PublicationTable, Schema } from '../db/schema.ts'
import type { Fate } from './fate.ts'
import type { Costs } from './publication-nodes.ts'
import { anchorError, NotPublished } from './push-errors.ts'
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
type Recorder = Parts & Pick<Publishing, 'queueEntry'>
type Landed = Extract<Fate, { is: 'landed' }>

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
  await change(parts, publication, async (tx, at) => {
    const isFirst = await changePublication(tx, publication, {
      state: commitment === 'finalized' ? 'finalized' : 'landed',
      fee_lamports: costs.feeLamports,
      rent_lamports: costs.rentLamports,
    })
    if (!isFirst) return
    await setAnchor(tx, publication, anchor)
    await setStanding(tx, publication, { status: 'complete', at, error: null })
    await parts.queueEntry?.(tx, publication, costs.slot)
  })
}

/** Nothing was sent; whoever has sent something meanwhile knows better. */
export async function recordNotSent(parts: Parts, statement: Statement, problem: NotPublished): Promise<void> {
  await change(parts, statement, async (tx, at) => {
    const sent = await findSent(tx, statement.receipt_id)
    const isSent = sent?.sequence === statement.sequence || (await findAnchor(tx, statement)) !== null
    if (!isSent) await setStanding(tx, statement, { status: 'computed', at, error: anchorError(problem, at) })
  })
}

/** It will not publish its statement any more. A landed one that the chain has lost again takes its anchor with it. */
export async function recordLost(
  parts: Parts,
  publication: PublicationTable,
  problem: NotPublished,
  feeLamports: number | null = publication.fee_lamports,
): Promise<void> {
  await change(parts, publication, async (tx, at) => {
    const isPaid = problem.reason === 'transaction_failed'
    const costs = { fee_lamports: isPaid ? feeLamports : null, rent_lamports: null }
    const isFirst = await changePublication(tx, publication, { state: isPaid ? 'failed' : 'expired', ...costs })
    if (!isFirst) return
    await setAnchor(tx, publication, null)
    await setStanding(tx, publication, { status: 'computed', at, error: anchorError(problem, at) })
  })
}

/** Nobody can say now; it stays noted as sent, and is looked for again. */
export async function recordUnknown(parts: Parts, publication: PublicationTable): Promise<NotPublished> {
  const problem = new NotPublished('outcome_unknown', 'the chain does not tell yet whether it took the transaction', {
    tx: publication.tx,
    isAmbiguous: true,
  })
  await change(parts, publication, async (tx, at) => {
    const isOpen = await changePublication(tx, publication, { state: publication.state })
    if (isOpen) await setStanding(tx, publication, { status: 'computed', at, error: anchorError(problem, at) })
  })
  return problem
}

export async function recordFinalized(parts: Parts, publication: PublicationTable, anchor: Anchor): Promise<void> {
  await change(parts, publication, async (tx) => {
    const isFirst = await changePublication(tx, publication, { state: 'finalized' })
    if (isFirst) await setAnchor(tx, publication, { ...anchor, commitment: 'finalized', finalized: true })
  })
}

function change(
  { database, now }: Parts,
  { receipt_id }: Statement,
  write: (tx: Transaction<Schema>, at: number) => Promise<void>,
): Promise<void> {
  return database.db.transaction().execute(async (tx) => {
    await lockStanding(tx, receipt_id)
    await write(tx, unixNow({ now }))
  })
}
