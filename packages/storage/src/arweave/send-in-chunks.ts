import { ProviderError } from '../provider.ts'
import type { SettlingObject } from '../slow-store.ts'
import type { DataItem } from './data-item.ts'
import { itemBody } from './item-body.ts'
import { retrying } from './patience.ts'
import type { Notes, SettleTools } from './settle-tools.ts'

/** The service takes 5 MiB at least; of the largest item these are few enough to be listed at once. */
const CHUNK_BYTES = 8 * 1024 * 1024

/** Goes on with the upload that was noted, as long as the service knows it; not with one that came to nothing. */
export async function sendInChunks(
  tools: SettleTools,
  item: DataItem,
  object: SettlingObject,
  notes: Notes,
  hasFailed: boolean,
): Promise<void> {
  const { service } = tools
  const state = notes.uploadId === null ? 'gone' : await service.uploadState(notes.uploadId)
  if (state === 'closed' && !hasFailed) return
  const uploadId = state === 'open' ? (notes.uploadId as string) : await beginUpload(tools, item, object)
  await sendChunks(tools, item, object, uploadId)
  await service.finalize(uploadId)
  const outcome = await service.uploadState(uploadId)
  if (outcome === 'unpaid') throw new ProviderError('full', new Error(`no credit is left for item ${item.id}`))
  if (outcome === 'gone') throw new ProviderError('unavailable', new Error(`item ${item.id} was found bad`))
}

async function beginUpload({ service }: SettleTools, { id }: DataItem, object: SettlingObject): Promise<string> {
  const uploadId = await service.beginUpload(CHUNK_BYTES)
  await object.note({ id, uploadId } satisfies Notes)
  return uploadId
}

/** After trouble the service is asked what it has: an answer that did not come may have been a good one. */
async function sendChunks(
  { service, patience }: SettleTools,
  item: DataItem,
  object: SettlingObject,
  uploadId: string,
): Promise<void> {
  await retrying(patience, object.signal, async () => {
    const there = await service.chunksOf(uploadId)
    for (let offset = 0; offset < item.size; offset += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, item.size - offset)
      if (there.get(offset) !== length) {
        await service.postChunk(uploadId, offset, itemBody(item, object, offset, length))
      }
    }
  })
}
