import { ProviderError } from '../../providers/provider.ts'
import { type SettlingContext, slowStoreOf } from './settle-object.ts'
import { findObject } from './store.ts'

/** Gives the room of a staged copy back, once its provider shows that it has as many bytes. */
export async function dropStaged(context: SettlingContext, objectId: string): Promise<void> {
  const object = await findObject(context.database.db, objectId)
  // Released and cleared away meanwhile, with all that was staged.
  if (!object || object.provider_ref === null) return
  const { provider, provider_ref: ref } = object
  const staged = await context.providers.named(provider).stat({ id: objectId, ref })
  const settled = await slowStoreOf(context, provider).stat(ref)
  if (!settled || settled.size !== staged?.size) {
    throw new ProviderError('unavailable', new Error(`object ${objectId} is not yet to be read at ${provider}`))
  }
  await context.providers.named(provider).remove({ id: objectId, ref })
}
