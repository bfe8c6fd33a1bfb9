// The documents of objects: `<collection>/<id>` exists once an object is complete, and contains its size and the name
// of its write; the bytes are in `<collection>/<id>/chunks/<write>-<number>`. A chunk's name contains its write, so
// that a write never touches another one's chunks.

import { parseSize, requireObjectId } from '../object-rules.ts'
import { type Timeouts, withRetries } from '../timeouts.ts'
import type { CallLimits, Calls, DocumentWrite, StoredDocument } from './calls.ts'
import { callError } from './errors.ts'

/** A failed step is retried: running it twice must have the same result. */
export interface Store {
  objectName(id: string): string
  commit(writes: readonly DocumentWrite[]): Promise<void>
  fetch(names: readonly string[], mask: readonly string[] | null, signal?: AbortSignal): Promise<StoredDocument[]>
  /** The names of the first chunks, of any write. */
  listChunks(id: string, limit: number): Promise<string[]>
}

export interface FoundObject {
  name: string
  /** The name of the write that created it. */
  write: string
  size: number
  chunks: number
  chunkBytes: number
}

const CHUNKS = 'chunks'

export function createStore(calls: Calls, timeouts: Timeouts): Store {
  const objectName = (id: string) => `${calls.root}/${requireObjectId(id)}`

  function ask<Result>(step: (limits: CallLimits) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const attempt = async () => {
      try {
        return await step({ deadline: new Date(Date.now() + timeouts.answerMs), signal })
      } catch (error) {
        throw callError(error)
      }
    }
    return withRetries(timeouts, attempt, { signal })
  }

  return {
    objectName,
    commit: (writes) => ask((limits) => calls.commit(writes, limits)),
    fetch: (names, mask, signal) => ask((limits) => calls.fetch(names, mask, limits), signal),
    listChunks: async (id, limit) => ask((limits) => calls.list(objectName(id), CHUNKS, limit, limits)),
  }
}

export function chunkName(objectName: string, write: string, n: number): string {
  return `${objectName}/${CHUNKS}/${write}-${String(n).padStart(6, '0')}`
}

export async function findObject(store: Store, id: string): Promise<FoundObject | null> {
  const [document] = await store.fetch([store.objectName(id)], null)
  if (!document) return null
  const { write, size, chunks, chunk_bytes } = document.fields
  return {
    name: document.name,
    write: `${write?.stringValue}`,
    size: parseSize(`${size?.integerValue}`),
    chunks: parseSize(`${chunks?.integerValue}`),
    chunkBytes: Math.max(1, parseSize(`${chunk_bytes?.integerValue}`)),
  }
}
