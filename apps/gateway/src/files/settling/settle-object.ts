import type { Readable } from 'node:stream'
import { type ByteRange, ProviderError } from '@svc/storage/provider'
import type { SettlingObject, SlowStore } from '@svc/storage/slow-store'
import { type Context, unixNow } from '../../context.ts'
import type { SettlingObjectTable } from '../../db/schema.ts'
import { recordRef, replaceNotes, seeSettling } from './store.ts'

export type SettlingContext = Pick<Context, 'database' | 'providers' | 'queue' | 'now'>

/** Two weeks, as pauses grow to an hour. */
export const SETTLE_ATTEMPTS = 350

/** Brings an object from where it is staged to its provider. What an earlier run has done is not done again. */
export async function settleObject(context: SettlingContext, objectId: string, signal: AbortSignal): Promise<void> {
  const { db } = context.database
  const row = await seeSettling(db, objectId, unixNow(context))
  if (!row) return
  const { ref } = await slowStoreOf(context, row.provider).settle(settlingObject(context, row, signal))
  await db.transaction().execute(async (tx) => {
    if (await recordRef(tx, objectId, ref)) await context.queue.enqueue(tx, 'drop-staged', { object_id: objectId })
  })
}

export function slowStoreOf({ providers }: SettlingContext, name: string): SlowStore {
  const slow = providers.slow(name)
  if (!slow) throw new Error(`objects are on their way to ${name}, which is not configured so any more`)
  return slow
}

function settlingObject(context: SettlingContext, row: SettlingObjectTable, signal: AbortSignal): SettlingObject {
  const { object_id: id, provider } = row
  let known = row.notes
  return {
    id,
    size: row.size_bytes,
    sha256: row.sha256,
    contentType: row.content_type,
    open: (range) => openStaged(context, provider, id, range),
    notes: known === null ? null : JSON.parse(known),
    async note(notes) {
      const text = JSON.stringify(notes)
      if (!(await replaceNotes(context.database.db, id, known, text, unixNow(context)))) {
        throw new Error(`object ${id} was called off, or another run goes on with it`)
      }
      known = text
    },
    signal,
  }
}

async function openStaged({ providers }: SettlingContext, provider: string, id: string, range?: ByteRange) {
  const stream: Readable | null = await providers.named(provider).read({ id, ref: null }, range)
  if (!stream) throw new ProviderError('unavailable', new Error(`object ${id} is not staged any more`))
  return stream
}
