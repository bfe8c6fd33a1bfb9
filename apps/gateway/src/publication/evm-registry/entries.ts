// Writes statements to the registry on the EVM chain: the newest statement of each receipt.

import { PermanentError } from '@svc/database/queue/queue'
import { maxFeeGwei, type SignedTransaction } from '@svc/payments/evm/account'
import { isoSeconds } from '@svc/protocol/evidence'
import { ServiceError } from '@svc/service/service-error'
import type { Hex } from 'viem'
import { releaseSpending } from '../../budgets/budgets.ts'
import { type Context, unixNow } from '../../context.ts'
import type { RegistryEntryTable, Tx } from '../../db/schema.ts'
import type { StatementRecord } from '../../evidence/record.ts'
import { findStatement } from '../../evidence/store.ts'
import { type Attempt, delayOf, limitsOf, type Publisher, publish } from '../publisher.ts'
import { documentIdOfStatement, type Statement } from '../store.ts'
import type { EntryOutcome, EvmRegistry } from './client.ts'
import { RegistryError } from './errors.ts'
import { changeEntry, type EntryChange, findEntry, openEntries, putEntry, sentEntries } from './store.ts'

/**
 * Queues the newest statement of a receipt. `slot` is the slot of its anchor on the primary chain, or 0 without one.
 */
export async function queueEntry(
  tx: Tx,
  { queue, evmRegistry }: Pick<Context, 'queue' | 'evmRegistry'>,
  { receipt_id, sequence }: Statement,
  slot: number,
): Promise<void> {
  if (!evmRegistry) return
  const statement = await findStatement(tx, receipt_id, sequence)
  if (!statement) throw new Error(`there is no statement ${sequence} to write to the registry`)
  const { merkle_root, file_count } = JSON.parse(statement.record) as StatementRecord
  await putEntry(tx, {
    receipt_id,
    sequence,
    merkle_root,
    slot,
    file_count,
    attested_at: statement.issued_at,
    state: 'waiting',
    tx: null,
    raw: null,
    block: null,
    fee_wei: null,
    error: null,
    since: statement.issued_at,
    deferred_until: null,
  })
  await queue.enqueue(tx, 'bridge', { receipt_id }, { key: receipt_id })
}

const RETRY_LIMIT = 50

type SentEntry = RegistryEntryTable & { tx: Hex; raw: Hex } // recorded together

export const ENTRIES: Publisher<SentEntry, EntryOutcome> = {
  job: 'bridge-retry',
  seconds: 600,
  isOn: ({ evmRegistry }) => evmRegistry !== null,
  open: async ({ database }) => (await sentEntries(database.db, RETRY_LIMIT)) as SentEntry[],
  /** Only final transactions count as landed. */
  landed: async () => [],
  outcomes: ({ evmRegistry }, sent) => Promise.all(sent.map((each) => evmRegistry!.outcome(each).catch(pending))),
  documentsOf: documentIdOfStatement,
  send: ({ evmRegistry }, { raw }) => evmRegistry!.send(raw),
  waitFor: ({ evmRegistry, config }, sent) => evmRegistry!.watch(sent, config.anchors.waitSeconds * 1000),
  record: recordEntry,
  /** The next run publishes what was open. */
  async publishDue(context, open) {
    const known = new Set(open.map(({ receipt_id }) => receipt_id))
    const due = await openEntries(context.database.db, unixNow(context), RETRY_LIMIT)
    await writeEntries(
      context,
      due.filter((receiptId) => !known.has(receiptId)),
    )
  },
}

/** The outcome while no node answers. */
function pending(error: unknown): { outcome: 'pending' } {
  if (error instanceof RegistryError) return { outcome: 'pending' }
  throw error
}

/** Deletes a transaction that can never land, so that another may be signed for the entry. */
async function recordEntry(context: Context, entry: SentEntry, found: EntryOutcome): Promise<RegistryError | null> {
  const { commit } = context.database
  const { tx: hash } = entry
  if (found.outcome === 'pending') return new RegistryError('unavailable', `transaction ${hash} is not final yet`)
  if (found.outcome === 'landed') {
    const { block, fee_wei } = found
    await commit((tx) => changeEntry(tx, entry, { state: 'done', block, fee_wei: String(fee_wei), error: null }))
    return null
  }
  if (found.outcome === 'failed') {
    const error = new RegistryError(found.reason, `transaction ${hash} failed`)
    await commit((tx) => changeEntry(tx, entry, { ...WITHOUT_TRANSACTION, ...reasonOf(error) }))
    return error
  }
  await forgetTransaction(context, entry)
  return null
}

const WITHOUT_TRANSACTION = { state: 'waiting', tx: null, raw: null } as const

/** The transaction never landed, so it cost nothing. */
async function forgetTransaction({ database }: Context, entry: RegistryEntryTable): Promise<void> {
  await database.commit(async (tx) => {
    if ((await changeEntry(tx, entry, WITHOUT_TRANSACTION)) && entry.tx !== null) await releaseSpending(tx, entry.tx)
  })
}

/** How a failure is recorded with the entry. An entry older than the registry's need not be written. */
function reasonOf({ why, message }: RegistryError) {
  return why === 'older' ? ({ state: 'done', error: null } as const) : { error: `${why}: ${message}` }
}

/**
 * Throws if the entry cannot be written now; the reason is recorded with it. An entry that exceeds the budget is
 * `deferred` to the next run of the watch.
 */
export async function writeEntry(context: Context, receiptId: string): Promise<'done' | 'deferred'> {
  const { evmRegistry, database } = context
  const entry = await findEntry(database.db, receiptId)
  if (!evmRegistry || !entry) return 'done'
  const known = { entry }
  try {
    return await publish(context, ENTRIES, attemptOf(context, evmRegistry, known))
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    await database.commit((tx) => changeEntry(tx, known.entry, reasonOf(error)))
    if (error.why === 'older') return 'done'
    throw isPermanent(error) ? new PermanentError(error.message, { cause: error }) : error
  }
}

/** `known`: the entry as this run has last read it. */
function attemptOf(
  context: Context,
  registry: EvmRegistry,
  known: { entry: RegistryEntryTable },
): Attempt<SignedTransaction, SentEntry, 'done' | 'deferred'> {
  const { db, commit } = context.database
  const { receipt_id } = known.entry
  const account = { budget: 'evm_registry', limits: limitsOf(context, 'entry', receipt_id) } as const
  /** Does nothing if a transaction is recorded. */
  const change = (tx: Tx, to: EntryChange) => changeEntry(tx, { ...known.entry, tx: null }, to)

  async function read(): Promise<RegistryEntryTable | null> {
    const found = await findEntry(db, receipt_id)
    if (found) known.entry = found
    return found
  }

  return {
    account,
    async findSent() {
      const found = await read()
      return found?.state === 'sent' ? (found as SentEntry) : null
    },
    async result({ problem }) {
      if (problem) throw problem
      const found = await read()
      return !found || found.state === 'done' ? 'done' : null
    },
    async sign() {
      const signed = await registry.prepare(receipt_id, known.entry)
      if (signed !== 'there_already') return signed
      await commit((tx) => change(tx, { state: 'done', error: null }))
      return null
    },
    insert: (tx, { tx: hash, raw }) => change(tx, { state: 'sent', tx: hash, raw, error: null, deferred_until: null }),
    costs: ({ tx, raw }) => [{ ...account, tx, amount: maxFeeGwei(raw) }],
    async remove(tx, { tx: hash }) {
      await changeEntry(tx, { ...known.entry, tx: hash }, WITHOUT_TRANSACTION)
    },
    async defer(tx, refusal) {
      const deferred_until = unixNow(context) + delayOf(context, refusal)
      const error = `${refusal.reason}: until ${isoSeconds(refusal.until)}`
      return (await change(tx, { deferred_until, error })) ? 'deferred' : null
    },
    async send({ tx, raw }) {
      await context.continuity.requireWritten(...(await documentIdOfStatement(db, known.entry)))
      if ((await registry.send(raw)) === 'nonce_taken') await forgetTransaction(context, { ...known.entry, tx })
    },
  }
}

/** Only the admin can solve these. */
function isPermanent({ why }: RegistryError): boolean {
  return why === 'not_owner' || why === 'not_a_registry' || why === 'refused'
}

/**
 * Writes the open entry of one receipt, or the oldest open entries of all, including those whose job has ended in
 * failure. For callers that repeat a call after a 5xx (INT-05).
 */
export async function retryEntries(
  context: Context,
  { receipt_id, limit = RETRY_LIMIT }: { receipt_id?: string; limit?: number },
) {
  const { db } = context.database
  const entry = receipt_id === undefined ? null : await findEntry(db, receipt_id)
  const open =
    receipt_id === undefined
      ? await openEntries(db, unixNow(context), limit)
      : entry && entry.state !== 'done'
        ? [receipt_id]
        : []
  const { run, retryable } = await writeEntries(context, open)
  if (retryable === 0) return run
  throw new ServiceError('chain_unavailable', `${retryable} of ${run.attempted} entries could not be written now`, {
    hint: 'call again later; entries that were written are not written twice',
    headers: { 'retry-after': '60' },
    details: run,
  })
}

async function writeEntries(context: Context, receiptIds: readonly string[]) {
  const counts = { done: 0, deferred: 0 }
  let retryable = 0
  for (const id of receiptIds) {
    try {
      counts[await writeEntry(context, id)]++
    } catch (error) {
      if (!(error instanceof PermanentError)) retryable++
      context.log.warn({ err: error }, 'a statement could not be written to the EVM registry')
    }
  }
  const { done: succeeded, deferred } = counts
  const attempted = receiptIds.length
  const failed = attempted - succeeded - deferred
  const run = { ok: failed === 0, attempted, succeeded, failed, ...(deferred > 0 && { deferred }) }
  return { run, retryable }
}
