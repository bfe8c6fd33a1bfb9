// Sending an object as a data item: a small one in one request, a large one in chunks, so that an interrupted upload
// continues where it stopped.

import type { Readable } from 'node:stream'
import { ProviderError } from '../provider.ts'
import type { StagedObject } from '../slow-store.ts'
import { type HttpTimeouts, withRetries } from '../timeouts.ts'
import { type DataItem, signItem } from './data-item.ts'
import type { ItemBody, ItemState, UploadService } from './upload-service.ts'

/** Larger items are sent in chunks. */
const MAX_BYTES_AT_ONCE = 8 * 1024 * 1024
/** The service accepts 5 MiB and more; the largest item has few enough of these to be listed at once. */
const CHUNK_BYTES = 8 * 1024 * 1024

/** The state that a run leaves to the next. */
export interface Progress {
  /** The id of the item. */
  id: string
  /** The id of the upload in chunks, if there is one. */
  uploadId: string | null
}

interface DeliveryTools {
  service: UploadService
  seed: Uint8Array
  timeouts: HttpTimeouts
  /** The size of the item at the gateways; null when they do not know it, or none can be reached. */
  sizeAtGateways(id: string): Promise<number | null>
}

/** Resolves with the id of the item once it is permanently on the chain: until then it may still fail. */
export async function deliverItem(tools: DeliveryTools, object: StagedObject): Promise<string> {
  const { service, seed } = tools
  const earlier = object.progress as Progress | null // only this driver writes them
  const state = earlier && (await stateOf(tools, earlier.id, object.size))
  if (earlier && state !== 'failed' && state !== null) return requirePermanent(earlier.id, state)
  const item = await signItem(object, seed)
  const progress = earlier?.id === item.id ? earlier : { id: item.id, uploadId: null }
  // With another key it is another item.
  if (progress !== earlier) await object.saveProgress(progress)
  if (item.size > MAX_BYTES_AT_ONCE) await sendInChunks(tools, item, object, progress, state === 'failed')
  else await service.postItem(itemBody(item, object, 0, item.size))
  return requirePermanent(item.id, await service.itemState(item.id))
}

/** Gateways may know items that a service has dropped, or never had. */
async function stateOf({ service, sizeAtGateways }: DeliveryTools, id: string, size: number): Promise<ItemState> {
  const state = await service.itemState(id)
  return state === null && (await sizeAtGateways(id)) === size ? 'permanent' : state
}

function requirePermanent(id: string, state: ItemState): string {
  if (state === 'permanent') return id
  throw new ProviderError('unavailable', `item ${id} was sent, but is not permanently on the chain yet`)
}

/** Continues the stored upload as long as the service knows it, unless it has failed. */
async function sendInChunks(
  tools: DeliveryTools,
  item: DataItem,
  object: StagedObject,
  progress: Progress,
  hasFailed: boolean,
): Promise<void> {
  const { service } = tools
  const state = progress.uploadId === null ? 'gone' : await service.uploadState(progress.uploadId)
  if (state === 'closed' && !hasFailed) return
  const uploadId = state === 'open' ? (progress.uploadId as string) : await beginUpload(tools, item, object)
  await sendChunks(tools, item, object, uploadId)
  // Finalizing publishes the item: the object may be unwanted by now.
  await object.saveProgress({ id: item.id, uploadId } satisfies Progress)
  await service.finalize(uploadId)
  const outcome = await service.uploadState(uploadId)
  if (outcome === 'unpaid') throw new ProviderError('full', `no credit is left for item ${item.id}`)
  if (outcome === 'gone') throw new ProviderError('unavailable', `the service rejected item ${item.id}`)
}

async function beginUpload({ service }: DeliveryTools, { id }: DataItem, object: StagedObject): Promise<string> {
  const uploadId = await service.beginUpload(CHUNK_BYTES)
  await object.saveProgress({ id, uploadId } satisfies Progress)
  return uploadId
}

/** After a failure the service is queried for the chunks it has: the lost answer may have been a success. */
async function sendChunks(
  { service, timeouts }: DeliveryTools,
  item: DataItem,
  object: StagedObject,
  uploadId: string,
): Promise<void> {
  const attempt = async () => {
    const stored = await service.chunksOf(uploadId)
    for (let offset = 0; offset < item.size; offset += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, item.size - offset)
      if (stored.get(offset) !== length) {
        await service.postChunk(uploadId, offset, itemBody(item, object, offset, length))
      }
    }
  }
  await withRetries(timeouts, attempt, { signal: object.signal })
}

/** A part of an item. */
function itemBody(item: DataItem, object: StagedObject, start: number, length: number): ItemBody {
  const header = item.header.subarray(start, start + length)
  const rest = length - header.length
  let stream: Readable | null = null
  let isReleased = false

  async function* pieces(): AsyncGenerator<Buffer[]> {
    if (header.length > 0) yield [header]
    if (rest === 0) return
    const first = Math.max(start - item.header.length, 0)
    stream = await object.open({ start: first, end: first + rest - 1 })
    if (isReleased) return void stream.destroy()
    let left = rest
    for await (const chunk of stream) {
      object.signal.throwIfAborted()
      left -= chunk.length
      if (left < 0) break
      yield [chunk]
    }
    if (left !== 0) throw new ProviderError('unavailable', `the staged bytes of object ${object.id} have changed`)
  }

  return {
    length,
    hasBegun: () => stream !== null,
    pieces,
    release() {
      isReleased = true
      stream?.destroy()
    },
  }
}
