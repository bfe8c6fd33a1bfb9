import type { Transaction } from 'kysely'
import type { StatementRecord } from '../../attestations/record.ts'
import { findStatement } from '../../attestations/store.ts'
import type { Context } from '../../context.ts'
import type { Schema } from '../../db/schema.ts'
import { putEntry } from './store.ts'

/** Queues a statement for the EVM registry. `slot` is that of its anchor on the primary chain, 0 without one. */
export type QueueEntry = (
  tx: Transaction<Schema>,
  statement: { receipt_id: string; sequence: number },
  slot: number,
) => Promise<void>

/** Null where no registry is configured. */
export function createEntryQueue({ queue, evmRegistry }: Pick<Context, 'queue' | 'evmRegistry'>): QueueEntry | null {
  if (!evmRegistry) return null
  return async (tx, { receipt_id, sequence }, slot) => {
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
    })
    await queue.enqueue(tx, 'bridge', { receipt_id }, { key: receipt_id })
  }
}
