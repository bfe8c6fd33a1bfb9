import type { Transaction } from 'kysely'
import type { Context } from '../context.ts'
import type { Locker, Schema } from '../db/schema.ts'

/** Hears, in the transaction that confirms files, that a locker's manifest has changed. */
export type ManifestChanged = (tx: Transaction<Schema>, locker: Pick<Locker, 'receipt_id'>) => Promise<'queued' | 'off'>

/** Files are often confirmed one after the other: one statement is made for all of them. */
const GATHER_SECONDS = 2

/** Also before the first statement: what was never attested has changed since (AMB-59). */
export function createAutoReattest({ config, queue }: Pick<Context, 'config' | 'queue'>): ManifestChanged {
  if (!config.attestations.isAutomatic) return async () => 'off'
  return async (tx, { receipt_id }) => {
    await queue.enqueue(tx, 'attest', { receipt_id }, { key: receipt_id, delaySeconds: GATHER_SECONDS })
    return 'queued'
  }
}
