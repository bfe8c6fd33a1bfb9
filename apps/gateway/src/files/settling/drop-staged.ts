import { createHash } from 'node:crypto'
import { addAbortSignal, type Readable } from 'node:stream'
import { ProviderError } from '@svc/storage/provider'
import { type SettlingContext, slowStoreOf } from './settle-object.ts'
import { findObject } from './store.ts'

/** Gives the room of a staged copy back, once its provider gives the same bytes: from then on there is no other copy. */
export async function dropStaged(context: SettlingContext, objectId: string, signal: AbortSignal): Promise<void> {
  const object = await findObject(context.database.db, objectId)
  // Released and cleared away meanwhile, with all that was staged.
  if (!object || object.provider_ref === null) return
  const { provider, provider_ref: ref } = object
  const key = { id: objectId, ref }
  const settled = await hashOf(await slowStoreOf(context, provider).read(ref), signal)
  const staged = await hashOf(await context.providers.named(provider).read(key), signal)
  if (settled === null || settled !== staged) {
    throw new ProviderError('unavailable', new Error(`${provider} does not give the bytes of object ${objectId} yet`))
  }
  await context.providers.named(provider).remove(key)
}

async function hashOf(stream: Readable | null, signal: AbortSignal): Promise<string | null> {
  if (!stream) return null
  const sha256 = createHash('sha256')
  for await (const chunk of addAbortSignal(signal, stream) as AsyncIterable<Buffer>) sha256.update(chunk)
  return sha256.digest('hex')
}
