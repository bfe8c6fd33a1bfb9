import type { FileHandle } from 'node:fs/promises'
import type { Source } from '@svc/sdk/files/source'

const CHUNK_BYTES = 1024 * 1024

/** The bytes of an open file: of that one, whatever its path names by now. */
export async function fileSource(file: FileHandle): Promise<Source> {
  const { size } = await file.stat()
  return {
    size,
    isRepeatable: true,
    open: () => file.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES }),
  }
}
