import { wholeNumber } from '../http/answer.ts'
import type { Store } from './store.ts'

/** An object that is there. */
export interface Found {
  name: string
  /** Which write it came by. */
  write: string
  size: number
  chunks: number
  chunkBytes: number
}

export async function findObject(store: Store, id: string): Promise<Found | null> {
  const [document] = await store.fetch([store.objectName(id)], null)
  if (!document) return null
  const { write, size, chunks, chunk_bytes } = document.fields
  return {
    name: document.name,
    write: `${write?.stringValue}`,
    size: wholeNumber(`${size?.integerValue}`),
    chunks: wholeNumber(`${chunks?.integerValue}`),
    chunkBytes: Math.max(1, wholeNumber(`${chunk_bytes?.integerValue}`)),
  }
}
