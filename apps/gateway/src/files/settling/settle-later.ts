import { bare } from '@svc/protocol/bytes'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../../context.ts'
import type { Locker, Schema } from '../../db/schema.ts'
import { insertSettling } from './store.ts'

export interface ConfirmedObject {
  id: string
  size: number
  contentHash: string
  contentType: string
}

/** In the transaction that confirms files: where their provider takes its time, their bytes move on from now. */
export async function settleLater(
  tx: Transaction<Schema>,
  context: Context,
  { locker_id, provider }: Locker,
  objects: readonly ConfirmedObject[],
): Promise<void> {
  if (objects.length === 0 || !context.providers.slow(provider)) return
  const now = unixNow(context)
  const rows = objects.map(({ id, size, contentHash, contentType }) => ({
    object_id: id,
    locker_id,
    provider,
    content_type: contentType,
    size_bytes: size,
    sha256: bare(contentHash),
    notes: null,
    since: now,
    seen_at: now,
  }))
  await insertSettling(tx, rows)
  // Without keys: a thousand of them would be as many locks in one transaction, and each object comes here once.
  for (const { object_id } of rows) await context.queue.enqueue(tx, 'settle-object', { object_id })
}
