import { ProviderError } from '../provider.ts'
import type { SettlingObject } from '../slow-store.ts'
import { signItem } from './data-item.ts'
import { itemBody } from './item-body.ts'
import { sendInChunks } from './send-in-chunks.ts'
import type { Notes, SettleTools } from './settle-tools.ts'
import type { ItemState } from './upload-service.ts'

/** Larger ones go in chunks, so that what is cut off goes on where it was. */
const MAX_BYTES_AT_ONCE = 8 * 1024 * 1024

/** Resolves with the id of the item when it is on the chain for good: until then it can still fail to get there. */
export async function settleItem(tools: SettleTools, object: SettlingObject): Promise<string> {
  const { service, seed } = tools
  const noted = object.notes as Notes | null // nobody else writes them
  const state = noted && (await stateOf(tools, noted.id, object.size))
  if (noted && state !== 'failed' && state !== null) return requirePermanent(noted.id, state)
  const item = await signItem(object, seed)
  const notes = noted?.id === item.id ? noted : { id: item.id, uploadId: null }
  // Where the key is another than before, so is the item.
  if (notes !== noted) await object.note(notes)
  if (item.size > MAX_BYTES_AT_ONCE) await sendInChunks(tools, item, object, notes, state === 'failed')
  else await service.postItem(itemBody(item, object, 0, item.size))
  return requirePermanent(item.id, await service.itemState(item.id))
}

/** Gateways know of items that a service has forgotten, or has never heard of. */
async function stateOf({ service, sizeAtGateways }: SettleTools, id: string, size: number): Promise<ItemState> {
  const state = await service.itemState(id)
  return state === null && (await sizeAtGateways(id)) === size ? 'permanent' : state
}

function requirePermanent(id: string, state: ItemState): string {
  if (state === 'permanent') return id
  throw new ProviderError('unavailable', new Error(`item ${id} was sent, and is not on the chain for good yet`))
}
