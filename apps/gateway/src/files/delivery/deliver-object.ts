import { createHash } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { type ByteRange, ProviderError } from '@svc/storage/provider'
import type { SlowStore, StagedObject } from '@svc/storage/slow-store'
import { type Context, unixNow } from '../../context.ts'
import type { SettlingObjectTable } from '../../db/schema.ts'
import { isOverTerms, type Obstacle, saveDeliveryProgress } from './allowance.ts'
import {
  findContent,
  findObject,
  findWaitingForContent,
  holdBack,
  isRestricted,
  recordRef,
  touchDelivery,
} from './store.ts'

type DeliveryContext = Pick<Context, 'database' | 'providers' | 'queue' | 'now'>

/** Two weeks, as pauses grow to an hour. */
export const DELIVERY_ATTEMPTS = 350

/**
 * Moves an object from the staging folder to its provider. Resumes where an earlier run stopped. Bytes that the locker
 * already has there are not paid for again. Bytes that exceed the terms stay in the folder (T-34). So do the bytes of a
 * restricted locker, until the sweep finds the restriction lifted (T-165).
 */
export async function deliverObject(context: DeliveryContext, objectId: string, signal: AbortSignal): Promise<void> {
  const { db, commit } = context.database
  const row = await commit((tx) => touchDelivery(tx, objectId, unixNow(context)))
  if (!row || (await isRestricted(db, row.locker_id))) return
  const same = row.notes === null ? await findContent(db, row) : null
  if (same) {
    // While the same bytes are being delivered, this object waits for that delivery.
    if (same.provider_ref !== null) await recordDelivery(context, row, same.provider_ref, { isPaid: false })
    return
  }
  if (row.notes === null && (await isOverTerms(db, row))) return commit((tx) => holdBack(tx, objectId))
  const found = await deliver(context, row, signal)
  if ('ref' in found) await recordDelivery(context, row, found.ref, { isPaid: true })
  else if (found.obstacle === 'over_terms') await commit((tx) => holdBack(tx, objectId))
}

async function deliver(
  context: DeliveryContext,
  row: SettlingObjectTable,
  signal: AbortSignal,
): Promise<{ ref: string } | { obstacle: Obstacle }> {
  let obstacle: Obstacle | null = null
  const stopAt = (found: Obstacle | null) => {
    if (!found) return
    obstacle = found
    throw new Error(`object ${row.object_id} is not delivered: ${found}`)
  }
  try {
    return await slowStoreOf(context, row.provider).deliver(stagedObject(context, row, stopAt, signal))
  } catch (error) {
    if (obstacle) return { obstacle }
    throw error
  }
}

/** Objects with the same bytes that waited for this paid delivery will find its ref. */
async function recordDelivery(
  { database, queue }: DeliveryContext,
  row: SettlingObjectTable,
  ref: string,
  { isPaid }: { isPaid: boolean },
): Promise<void> {
  const { object_id } = row
  await database.commit(async (tx) => {
    if (!(await recordRef(tx, object_id, ref))) return
    const waiting = isPaid ? await findWaitingForContent(tx, row) : []
    await queue.enqueue(tx, 'drop-staged', { object_id })
    for (const id of waiting) await queue.enqueue(tx, 'settle-object', { object_id: id })
  })
}

/** Removes the staged copy once the provider returns the same bytes. Until then it is the only certain copy. */
export async function dropStaged(context: DeliveryContext, objectId: string, signal: AbortSignal): Promise<void> {
  const object = await findObject(context.database.db, objectId)
  // Without a row or a ref, the object was released and removed together with the staged copy.
  if (!object || object.provider_ref === null) return
  const { provider, provider_ref: ref } = object
  const key = { id: objectId, ref }
  const delivered = await hashOf(await slowStoreOf(context, provider).read(ref), signal)
  const staged = await hashOf(await context.providers.named(provider).read(key), signal)
  if (delivered === null || delivered !== staged) {
    throw new ProviderError('unavailable', new Error(`${provider} does not return the bytes of object ${objectId} yet`))
  }
  await context.providers.named(provider).remove(key)
}

function slowStoreOf({ providers }: DeliveryContext, name: string): SlowStore {
  const slow = providers.slow(name)
  if (!slow) throw new Error(`objects are on their way to ${name}, which is no longer configured`)
  return slow
}

/** `stopAt` throws on an obstacle. Bytes are opened just before they are sent, so that is the time to check. */
function stagedObject(
  context: DeliveryContext,
  row: SettlingObjectTable,
  stopAt: (obstacle: Obstacle | null) => void,
  signal: AbortSignal,
): StagedObject {
  const { object_id: id, locker_id, provider } = row
  let known = row.notes
  return {
    id,
    size: row.size_bytes,
    sha256: row.sha256,
    contentType: row.content_type,
    async open(range) {
      stopAt((await isRestricted(context.database.db, locker_id)) ? 'restricted' : null)
      return openStaged(context, provider, id, range)
    },
    progress: known === null ? null : JSON.parse(known),
    async saveProgress(progress) {
      const text = JSON.stringify(progress)
      stopAt(await saveDeliveryProgress(context, row, known, text))
      known = text
    },
    signal,
  }
}

async function openStaged({ providers }: DeliveryContext, provider: string, id: string, range?: ByteRange) {
  const stream: Readable | null = await providers.named(provider).read({ id, ref: null }, range)
  if (!stream) throw new ProviderError('unavailable', new Error(`object ${id} is no longer staged`))
  return stream
}

async function hashOf(stream: Readable | null, signal: AbortSignal): Promise<string | null> {
  if (!stream) return null
  const sha256 = createHash('sha256')
  for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer>) sha256.update(chunk)
  return sha256.digest('hex')
}
