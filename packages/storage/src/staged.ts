// A slow store behind a folder: the gateway stores the bytes until the slow store has them.

import { forEachParallel } from './absent.ts'
import type { ObjectKey, StorageProvider } from './provider.ts'
import type { SlowStore } from './slow-store.ts'

/** The refs of the delivered objects, by their ids. */
export type FindRefs = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>

interface Stages {
  /** Holds objects until they are delivered. All gateways must share it. */
  staging: StorageProvider
  slow: SlowStore
  /** A caller may have a key from before the delivery, and use it after the staged copy is gone. */
  findRefs: FindRefs
}

const ASK_AT_ONCE = 16

/** Writes to the folder only: a job of the gateway delivers the objects that files reference. */
export function openStagedProvider({ staging, slow, findRefs }: Stages): StorageProvider {
  async function refsOf(keys: readonly ObjectKey[]): Promise<Map<string, string>> {
    const unknown = keys.filter(({ ref }) => ref === null).map(({ id }) => id)
    const refs = new Map(unknown.length === 0 ? [] : await findRefs(unknown))
    for (const { id, ref } of keys) if (ref !== null) refs.set(id, ref)
    return refs
  }

  async function atSlow<Result>(key: ObjectKey, ask: (ref: string) => Promise<Result | null>): Promise<Result | null> {
    const ref = (await refsOf([key])).get(key.id)
    return ref === undefined ? null : ask(ref)
  }

  return {
    maxBytes: Math.min(staging.maxBytes, slow.maxBytes),
    uploadTarget: async () => null,
    downloadTarget: async () => null,
    write: (id, bytes, about) => staging.write(id, bytes, about),
    parts: staging.parts,
    async read(key, range) {
      return (await staging.read(key, range)) ?? atSlow(key, (ref) => slow.read(ref, range))
    },
    async stat(key) {
      return (await staging.stat(key)) ?? atSlow(key, (ref) => slow.stat(ref))
    },
    async absent(keys) {
      const absent = await staging.absent(keys)
      const refs = await refsOf(keys.filter(({ id }) => absent.has(id)))
      await forEachParallel(refs, ASK_AT_ONCE, async ([id, ref]) => {
        if (await slow.stat(ref)) absent.delete(id)
      })
      return absent
    },
    async remove(key) {
      await staging.remove(key)
      return key.ref === null ? 'removed' : 'immutable'
    },
    async check() {
      const answers = await Promise.all([staging.check(), slow.check()])
      return answers.every(Boolean)
    },
  }
}
