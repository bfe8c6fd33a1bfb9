// The life of an object: announced, written, held by a file, released, removed. Every possible object at a provider has
// a row, so the sweep finds it after a crash.

import type { Readable } from 'node:stream'
import { toHex } from '@svc/protocol/bytes'
import { type ObjectKey, ProviderError, type StoredObject } from '@svc/storage/provider'
import { type Context, unixNow } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { storageError } from './errors.ts'
import { deleteObjectRow, resetObject } from './object-store.ts'

export interface NewObject extends StoredObject {
  id: string
}

/** Writes the row of an object before its first byte, which the gateway or a redirected client will write. */
export async function announceObject(context: Context, provider: string): Promise<string> {
  const object_id = toHex(context.randomBytes(16))
  await context.announceObject({ object_id, provider, state: 'writing', since: unixNow(context), locker_id: null })
  return object_id
}

/** Writes bytes to a provider. The sweep removes them unless a transaction holds the object. */
export async function writeObject(
  context: Context,
  provider: string,
  bytes: Readable,
  about: { contentType: string; size: number | null },
): Promise<NewObject> {
  const id = await announceObject(context, provider)
  try {
    return { id, ...(await context.providers.named(provider).write(id, bytes, about)) }
  } catch (error) {
    bytes.destroy()
    // An unavailable provider may still have stored the object. Its row stays for the sweep.
    const mayExist = error instanceof ProviderError && error.reason === 'unavailable'
    // After any other error the provider should have removed it already. This, or the sweep, makes sure.
    if (!mayExist) await removeObject(context, provider, id, null)
    throw storageError(error)
  }
}

export async function statObject({ providers }: Context, { provider }: Locker, key: ObjectKey) {
  try {
    return await providers.named(provider).stat(key)
  } catch (error) {
    throw storageError(error)
  }
}

/** The gateway's limit, or the provider's if that is lower. */
export function maxObjectBytes({ config, providers }: Context, provider: string): number {
  return Math.min(config.storage.maxUploadBytes, providers.named(provider).maxBytes)
}

/**
 * Removes a released object. After an error its row stays for the sweep. The row also stays where clients upload
 * directly: one may still have a URL of the object and write it again.
 */
export async function removeObject(context: Context, provider: string, id: string, ref: string | null) {
  return remove(context, provider, { id, ref }, context.providers.named(provider).uploadHeaders === undefined)
}

/** For the sweep, when every URL of the object has expired. */
export async function removePermanently(context: Context, provider: string, id: string, ref: string | null) {
  return remove(context, provider, { id, ref }, true)
}

async function remove(context: Context, provider: string, key: ObjectKey, isPermanent: boolean): Promise<boolean> {
  const { commit } = context.database
  const { id } = key
  try {
    const outcome = await context.providers.named(provider).remove(key)
    await (isPermanent
      ? commit((tx) => deleteObjectRow(tx, id))
      : commit((tx) => resetObject(tx, id, unixNow(context))))
    return outcome === 'removed'
  } catch (error) {
    context.log.warn({ object_id: id, err: error }, 'cannot remove an object; retrying later')
    return false
  }
}
