import type { Context } from '../context.ts'
import type { Locker, Tx } from '../db/schema.ts'

/** Files are often confirmed in quick succession: one statement covers all of them. */
const GATHER_SECONDS = 2

/**
 * Schedules a new attestation of the locker, where that is automatic. Runs in the transaction that changes its
 * manifest. A locker that was never attested counts as changed, too (FILE-32).
 */
export async function manifestChanged(
  { config, queue }: Pick<Context, 'config' | 'queue'>,
  tx: Tx,
  { receipt_id }: Pick<Locker, 'receipt_id'>,
): Promise<'queued' | 'off'> {
  if (!config.attestations.isAutomatic) return 'off'
  await queue.enqueue(tx, 'attest', { receipt_id }, { key: receipt_id, delaySeconds: GATHER_SECONDS })
  return 'queued'
}
