// The life of an object: noted, written, held by a file, released, cleared away. Whatever may be at a provider has a
// row, so that a crash at any moment leaves nothing that nobody knows of.

import type { Readable } from 'node:stream'
import { ServiceError } from '@svc/http-service/service-error'
import { toHex } from '@svc/protocol/bytes'
import { ProviderError, type StoredObject } from '@svc/storage/provider'
import { type Context, unixNow } from '../context.ts'
import type { ObjectTable } from '../db/schema.ts'
import type { FilesContext } from './room.ts'
import { condemnObject, deleteObjectRow, findUnheldObjects } from './store.ts'

export interface NewObject extends StoredObject {
  id: string
}

/** Notes an object that is about to be written, by us or by a client that is sent to its provider. */
export async function announceObject(context: FilesContext, provider: string): Promise<string> {
  const object_id = toHex(context.randomBytes(16))
  await context.announceObject({ object_id, provider, provider_ref: null, state: 'writing', since: unixNow(context) })
  return object_id
}

/** Keeps bytes at a provider. They belong to nobody until a transaction holds them. */
export async function writeObject(
  context: FilesContext,
  provider: string,
  bytes: Readable,
  about: { contentType: string; size: number | null },
): Promise<NewObject> {
  const id = await announceObject(context, provider)
  try {
    return { id, ...(await context.providers.named(provider).write(id, bytes, about)) }
  } catch (error) {
    bytes.destroy()
    // A provider that is gone may have the object all the same: its row stays, for the sweep.
    const mayBeThere = error instanceof ProviderError && error.reason === 'unavailable'
    // Any other should have nothing of it; should it have failed to clear up, this does, or the sweep.
    if (!mayBeThere) await removeObject(context, provider, id, null)
    throw storageTrouble(error)
  }
}

/** The most that an object may have: the gateway's limit, or less where the provider takes less. */
export function maxObjectBytes({ config, providers }: Context, provider: string): number {
  return Math.min(config.storage.maxUploadBytes, providers.named(provider).maxBytes)
}

/** Removes released bytes at once, where the provider can; else they are left to the sweep. */
export async function removeObject(context: Context, provider: string, id: string, ref: string | null) {
  try {
    const outcome = await context.providers.named(provider).remove({ id, ref })
    await deleteObjectRow(context.database.db, id)
    return outcome === 'removed'
  } catch (error) {
    context.log.warn({ object_id: id, err: error }, 'an object could not be removed yet')
    return false
  }
}

/** Trouble of a provider as clients are told of it: that there is some, and nothing else (T-31). */
export function storageTrouble(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.reason === 'signing-denied') return signingDenied(error)
  return new ServiceError('STORAGE_UNAVAILABLE', 'the storage behind this locker cannot be used right now', {
    hint: 'try again in a minute: nothing was changed',
    headers: { 'retry-after': '30' },
    details: {
      layer: 'provider',
      recovery_hint: 'nothing was stored; send the same request again later',
      next_best_method: 'the same',
    },
    cause: error,
  })
}

/** The one thing about a provider that has a code of its own (FILE-35). */
function signingDenied(cause: ProviderError): ServiceError {
  return new ServiceError('IAM_SIGNBLOB_PERMISSION_DENIED', 'the gateway may not sign addresses of its storage', {
    hint: 'nothing you can do: the operator has to let the gateway sign, or have bytes go through it',
    details: { layer: 'provider', recovery_hint: 'tell the operator of this gateway', next_best_method: 'none' },
    cause,
  })
}

/** Readers that began before a file was replaced are given this long. */
const RELEASED_KEPT_SECONDS = 15 * 60
/** Longer than any short URL lives, and then some for the transfer. */
const WRITING_KEPT_SECONDS = 48 * 3600
const SWEEP_AT_ONCE = 500

/** Clears away what nobody holds; tells how many objects that were. */
export async function sweepObjects(context: Context): Promise<number> {
  const { db } = context.database
  const now = unixNow(context)
  const before = { released: now - RELEASED_KEPT_SECONDS, writing: now - WRITING_KEPT_SECONDS }
  let swept = 0
  for (const object of await findUnheldObjects(db, before, SWEEP_AT_ONCE)) {
    if (await sweepObject(context, object)) swept++
  }
  return swept
}

async function sweepObject(context: Context, object: ObjectTable): Promise<boolean> {
  const { object_id, provider, provider_ref } = object
  if (!(await condemnObject(context.database.db, object, unixNow(context)))) return false
  return removeObject(context, provider, object_id, provider_ref)
}
