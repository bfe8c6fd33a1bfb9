// Writes statements to the registry on the EVM chain. A transaction is noted before it is sent, and resolved before
// another is signed.

import { PermanentError } from '@svc/database/queue/queue'
import { maxFeeGwei, type SignedTransaction } from '@svc/payments/evm/account'
import { sendOnce } from '@svc/payments/transactions'
import { isoSeconds } from '@svc/protocol/evidence'
import { ServiceError } from '@svc/service/service-error'
import type { Hex } from 'viem'
import { checkBudget, giveBack, type Refusal, spend } from '../../budgets/budgets.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Db, RegistryEntryTable, Tx } from '../../db/schema.ts'
import { delayOf, limitsOf } from '../budget.ts'
import { noteOfStatement } from '../store.ts'
import type { EvmRegistry } from './client.ts'
import { RegistryError } from './errors.ts'
import { changeEntry, findEntry, openEntries } from './store.ts'

type Parts = Pick<Context, 'database' | 'config' | 'now' | 'log' | 'continuity'>

/**
 * Throws when the entry cannot be written now; the reason is recorded with it. An entry that the budget does not allow
 * yet is `deferred`: it is left to the next run of `retryEntries`.
 */
export async function writeEntry(
  context: Parts & Pick<Context, 'evmRegistry'>,
  receiptId: string,
): Promise<'done' | 'deferred'> {
  const { evmRegistry, database } = context
  const found = await findEntry(database.db, receiptId)
  return evmRegistry && found ? write(context, evmRegistry, found) : 'done'
}

const RETRY_LIMIT = 50

/** Writes the open entry of one receipt, or the oldest of all, including those whose job has given up. */
export async function retryEntries(
  context: Context,
  { receipt_id, limit = RETRY_LIMIT }: { receipt_id?: string; limit?: number },
) {
  const { db } = context.database
  const open =
    receipt_id === undefined ? await openEntries(db, unixNow(context), limit) : await openEntryOf(db, receipt_id)
  const counts = { done: 0, deferred: 0 }
  let retryable = 0
  for (const id of open) {
    try {
      counts[await writeEntry(context, id)]++
    } catch (error) {
      if (!(error instanceof PermanentError)) retryable++
      context.log.warn({ err: error }, 'a statement could not be written to the EVM registry')
    }
  }
  const { done: succeeded, deferred } = counts
  const failed = open.length - succeeded - deferred
  const run = { ok: failed === 0, attempted: open.length, succeeded, failed, ...(deferred > 0 && { deferred }) }
  return { run, retryable }
}

/** For callers that repeat a call which answers 5xx (INT-05). */
export async function answerRetry(context: Context, body: { receipt_id?: string; limit?: number }) {
  const { run, retryable } = await retryEntries(context, body)
  if (retryable === 0) return run
  throw new ServiceError('chain_unavailable', `${retryable} of ${run.attempted} entries could not be written now`, {
    hint: 'call again later; entries that were written are not written twice',
    headers: { 'retry-after': '60' },
    details: run,
  })
}

async function openEntryOf(db: Db, receiptId: string): Promise<string[]> {
  const entry = await findEntry(db, receiptId)
  return entry && entry.state !== 'done' ? [receiptId] : []
}

async function write(parts: Parts, registry: EvmRegistry, first: RegistryEntryTable): Promise<'done' | 'deferred'> {
  const { db, commit } = parts.database
  const { receipt_id } = first
  const budget = { budget: 'evm_registry', limits: limitsOf(parts, 'entry', receipt_id) } as const
  let entry = first
  let isDeferred = false

  async function defer(tx: Tx, refusal: Refusal): Promise<void> {
    const deferred_until = unixNow(parts) + delayOf(parts, refusal)
    const error = `${refusal.reason}: until ${isoSeconds(refusal.until)}`
    isDeferred = await changeEntry(tx, entry, { ...FORGOTTEN, deferred_until, error })
  }

  /** Notes the transaction together with its cost. */
  function note({ tx: hash, raw }: SignedTransaction): Promise<boolean> {
    return commit(async (tx) => {
      const noted = { state: 'sent', tx: hash, raw, error: null, deferred_until: null } as const
      if (!(await changeEntry(tx, entry, noted))) return false
      const refusal = await spend(tx, parts, { ...budget, tx: hash, amount: maxFeeGwei(raw) })
      if (!refusal) return true
      entry = { ...entry, ...noted }
      await defer(tx, refusal)
      return false
    })
  }

  try {
    return await sendOnce<SignedTransaction, 'done' | 'deferred'>({
      async resolve() {
        for (;;) {
          if (isDeferred) return 'deferred'
          const found = await findEntry(db, receipt_id)
          if (!found || found.state === 'done') return 'done'
          entry = found
          if (entry.tx === null) return null
          await parts.continuity.requireWritten(...(await noteOfStatement(db, entry)))
          const failure = await resolveEntry(parts, registry, entry)
          // The entry no longer names the transaction: the reason is recorded with it as it is now.
          entry = { ...entry, tx: null }
          if (failure) throw failure
        }
      },
      async sign() {
        const refusal = await checkBudget(db, parts, budget)
        if (refusal) {
          await commit((tx) => defer(tx, refusal))
          return null
        }
        const signed = await registry.prepare(receipt_id, entry)
        if (signed !== 'there_already') return signed
        await commit((tx) => changeEntry(tx, entry, { state: 'done', error: null }))
        return null
      },
      note,
      async send({ tx, raw }) {
        await parts.continuity.requireWritten(...(await noteOfStatement(db, entry)))
        if ((await registry.send(raw)) === 'nonce_taken') await forgetTransaction(parts, { ...entry, tx })
      },
    })
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    const isOutdated = error.why === 'older'
    const change = isOutdated ? ({ state: 'done', error: null } as const) : { error: `${error.why}: ${error.message}` }
    await commit((tx) => changeEntry(tx, entry, change))
    if (!isOutdated) throw isPermanent(error) ? new PermanentError(error.message, { cause: error }) : error
    return 'done'
  }
}

/**
 * Records a transaction that has landed and forgets one that never will; returns why it failed. Throws while it may
 * still land.
 */
async function resolveEntry(
  parts: Parts,
  registry: EvmRegistry,
  entry: RegistryEntryTable,
): Promise<RegistryError | null> {
  const { tx, raw } = entry as { tx: Hex; raw: Hex } // noted together
  const found = await registry.watch({ tx, raw }, parts.config.anchors.waitSeconds * 1000)
  if (found.outcome === 'pending') throw new RegistryError('unavailable', `transaction ${tx} is not final yet`)
  if (found.outcome === 'landed') {
    const { block, fee_wei } = found
    await parts.database.commit((tx) =>
      changeEntry(tx, entry, { state: 'done', block, fee_wei: String(fee_wei), error: null }),
    )
    return null
  }
  if (found.outcome === 'failed') {
    await parts.database.commit((tx) => changeEntry(tx, entry, FORGOTTEN))
    return new RegistryError(found.reason, `transaction ${tx} failed`)
  }
  await forgetTransaction(parts, entry)
  return null
}

const FORGOTTEN = { state: 'waiting', tx: null, raw: null } as const

/** Lets another transaction be signed for the entry. This one never landed, so it cost nothing. */
async function forgetTransaction({ database }: Parts, entry: RegistryEntryTable): Promise<void> {
  await database.commit(async (tx) => {
    if ((await changeEntry(tx, entry, FORGOTTEN)) && entry.tx !== null) await giveBack(tx, entry.tx)
  })
}

/** Only the operator can solve these. */
function isPermanent({ why }: RegistryError): boolean {
  return why === 'not_owner' || why === 'not_a_registry' || why === 'refused'
}
