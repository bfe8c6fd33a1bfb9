import type { Readable } from 'node:stream'
import { BLOCK_BYTES, gatherBlocks } from './blocks.ts'
import { newWrite } from './own-write.ts'
import type { GcsStore } from './bucket.ts'
import { lengthOf } from './transport.ts'
import { uploadInSession } from './upload-session.ts'
import { uploadWhole } from './upload-whole.ts'

/** What the store takes in one object. */
export const MAX_BYTES = 5 * 1024 ** 4
/** Up to here an object is sent in one request, for which it is held in memory. */
const SMALL_BYTES = 1024 * 1024

export async function writeObject(
  store: GcsStore,
  name: string,
  source: Readable,
  { contentType, size }: { contentType: string; size: number | null },
): Promise<number> {
  const blocks = gatherBlocks(source, size, MAX_BYTES)
  try {
    if (size !== null && size > MAX_BYTES) throw new RangeError(`the store takes ${MAX_BYTES} bytes in one object`)
    const first = await blocks.take(SMALL_BYTES / BLOCK_BYTES)
    const write = newWrite(name, contentType)
    if (!first.isLast) return await uploadInSession(store, write, first, blocks)
    await uploadWhole(store, write, first.blocks)
    return lengthOf(first.blocks)
  } finally {
    blocks.release()
  }
}
