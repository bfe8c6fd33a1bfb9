import { findObject } from './find-object.ts'
import { chunkName, type Store } from './store.ts'

/** All of it must fit into the 10 MiB of one commit, in which what is deleted counts too. */
const CHUNKS_IN_COMMIT = 8
const LISTED_AT_ONCE = 200

/** In this order nobody reads half of it; chunks that are left when it fails go when it is removed again. */
export async function removeObject(store: Store, id: string): Promise<void> {
  const found = await findObject(store, id)
  if (found) {
    await store.commit([{ delete: found.name }])
    await removeChunks(store, found.name, found.write, found.chunks)
  }
  let left: string[]
  do {
    left = await store.listChunks(id, LISTED_AT_ONCE)
    await removeAll(store, left)
  } while (left.length === LISTED_AT_ONCE)
}

/** The first so many of one write. */
export function removeChunks(store: Store, objectName: string, write: string, count: number): Promise<void> {
  return removeAll(
    store,
    Array.from({ length: count }, (_, n) => chunkName(objectName, write, n)),
  )
}

/** In their order: a write that is still under way finds that it was removed by its first chunk. */
async function removeAll(store: Store, names: readonly string[]): Promise<void> {
  for (let at = 0; at < names.length; at += CHUNKS_IN_COMMIT) {
    await store.commit(names.slice(at, at + CHUNKS_IN_COMMIT).map((name) => ({ delete: name })))
  }
}
