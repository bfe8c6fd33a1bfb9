import type { AnchorsContext } from '../room.ts'
import { findEntry, openEntries } from './store.ts'
import { writeEntry } from './write-entry.ts'

const AT_ONCE = 50

/** Retries what could not be written to the EVM registry, also after its job has given up. */
export async function retryEntries(
  context: AnchorsContext,
  { receipt_id, limit = AT_ONCE }: { receipt_id?: string; limit?: number },
) {
  const { db } = context.database
  const open = receipt_id === undefined ? await openEntries(db, limit) : await openEntryOf(context, receipt_id)
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

async function openEntryOf({ database }: AnchorsContext, receiptId: string): Promise<string[]> {
  const entry = await findEntry(database.db, receiptId)
  return entry && entry.state !== 'done' ? [receiptId] : []
}
