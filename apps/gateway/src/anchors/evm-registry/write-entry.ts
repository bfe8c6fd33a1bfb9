// Writes statements to the registry on the EVM chain. A transaction is noted before it is sent, and resolved before
// another is signed.

import type { SignedTransaction } from '@svc/chains/evm/account'
import { sendOnce } from '@svc/chains/transactions'
import { PermanentError } from '@svc/queue/queue'
import type { Hex } from 'viem'
import type { Db, RegistryEntryTable } from '../../db/schema.ts'
import type { AnchorsContext } from '../room.ts'
import type { EvmRegistry } from './client.ts'
import { RegistryError } from './errors.ts'
import { changeEntry, findEntry, openEntries } from './store.ts'

type Parts = Pick<AnchorsContext, 'database' | 'config'>

/** Throws when the entry cannot be written now; the reason is recorded with it. */
export async function writeEntry(
  context: Parts & Pick<AnchorsContext, 'evmRegistry'>,
  receiptId: string,
): Promise<void> {
  const { evmRegistry, database } = context
  const found = await findEntry(database.db, receiptId)
  if (evmRegistry && found) await write(context, evmRegistry, found)
}

const RETRY_LIMIT = 50

/** Writes the open entry of one receipt, or the oldest of all, including those whose job has given up. */
export async function retryEntries(
  context: AnchorsContext,
  { receipt_id, limit = RETRY_LIMIT }: { receipt_id?: string; limit?: number },
) {
  const { db } = context.database
  const open = receipt_id === undefined ? await openEntries(db, limit) : await openEntryOf(db, receipt_id)
  let succeeded = 0
  for (const id of open) {
    try {
      await writeEntry(context, id)
      succeeded++
    } catch (error) {
      context.log.warn({ err: error }, 'a statement could not be written to the EVM registry')
    }
  }
  return { ok: succeeded === open.length, attempted: open.length, succeeded, failed: open.length - succeeded }
}

async function openEntryOf(db: Db, receiptId: string): Promise<string[]> {
  const entry = await findEntry(db, receiptId)
  return entry && entry.state !== 'done' ? [receiptId] : []
}

async function write(parts: Parts, registry: EvmRegistry, first: RegistryEntryTable): Promise<void> {
  const { db } = parts.database
  const { receipt_id } = first
  let entry = first
  try {
    await sendOnce<SignedTransaction, 'done'>({
      async resolve() {
        for (;;) {
          const found = await findEntry(db, receipt_id)
          if (!found || found.state === 'done') return 'done'
          entry = found
          if (entry.tx === null) return null
          const failure = await resolveEntry(parts, registry, entry)
          // The entry no longer names the transaction: the reason is recorded with it as it is now.
          entry = { ...entry, tx: null }
          if (failure) throw failure
        }
      },
      async sign() {
        const signed = await registry.prepare(receipt_id, entry)
        if (signed !== 'there_already') return signed
        await changeEntry(db, entry, { state: 'done', error: null })
        return null
      },
      note: ({ tx, raw }) => changeEntry(db, entry, { state: 'sent', tx, raw, error: null }),
      async send({ tx, raw }) {
        if ((await registry.send(raw)) === 'nonce_taken') await forgetTransaction(parts, { ...entry, tx })
      },
    })
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    const isOutdated = error.why === 'older'
    const change = isOutdated ? ({ state: 'done', error: null } as const) : { error: `${error.why}: ${error.message}` }
    await changeEntry(db, entry, change)
    if (!isOutdated) throw isPermanent(error) ? new PermanentError(error.message, { cause: error }) : error
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
    await changeEntry(parts.database.db, entry, { state: 'done', block, fee_wei: String(fee_wei), error: null })
    return null
  }
  await forgetTransaction(parts, entry)
  return found.outcome === 'failed' ? new RegistryError(found.reason, `transaction ${tx} failed`) : null
}

/** Lets another transaction be signed for the entry. */
async function forgetTransaction({ database }: Parts, entry: RegistryEntryTable): Promise<void> {
  await changeEntry(database.db, entry, { state: 'waiting', tx: null, raw: null })
}

/** Only the operator can solve these. */
function isPermanent({ why }: RegistryError): boolean {
  return why === 'not_owner' || why === 'not_a_registry' || why === 'refused'
}
