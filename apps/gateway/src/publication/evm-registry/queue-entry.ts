import type { Context } from '../../context.ts'
import type { StatementRecord } from '../../evidence/record.ts'
import { findStatement } from '../../evidence/store.ts'
import type { QueueEntry } from '../publishing.ts'
import type { EvmRegistry } from './client.ts'
import { putEntry } from './store.ts'

/** Queues the newest statement of a receipt to be written. Null where no registry is configured. */
export function createEntryQueue({
  queue,
  evmRegistry,
}: Pick<Context, 'queue'> & { evmRegistry: EvmRegistry | null }): QueueEntry | null {
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
      deferred_until: null,
    })
    await queue.enqueue(tx, 'bridge', { receipt_id }, { key: receipt_id })
  }
}
