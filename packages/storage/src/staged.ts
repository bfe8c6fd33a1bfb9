// A provider that takes its time, with a folder before it: bytes are the gateway's to keep until the provider has them.

import type { ObjectKey, StorageProvider } from './provider.ts'
import type { SlowStore } from './slow-store.ts'

/** Of these ids, those whose refs are known. */
export type FindRefs = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>

interface Stages {
  /** Where objects are until they have settled. All gateways must have the same. */
  staging: StorageProvider
  slow: SlowStore
  /** Somebody may hold a key from before its object settled, and go on with it after the staged copy is gone. */
  findRefs: FindRefs
}

const ASK_AT_ONCE = 16

/** Writes to the folder alone: to move on what is to stay is for whoever knows that it is. */
export function openStagedProvider({ staging, slow, findRefs }: Stages): StorageProvider {
  async function refsOf(keys: readonly ObjectKey[]): Promise<Map<string, string>> {
    const unknown = keys.filter(({ ref }) => ref === null).map(({ id }) => id)
    const refs = new Map(unknown.length === 0 ? [] : await findRefs(unknown))
    for (const { id, ref } of keys) if (ref !== null) refs.set(id, ref)
    return refs
  }

  async function atSlow<T>(key: ObjectKey, ask: (ref: string) => Promise<T | null>): Promise<T | null> {
    const ref = (await refsOf([key])).get(key.id)
    return ref === undefined ? null : ask(ref)
  }

  return {
    maxBytes: Math.min(staging.maxBytes, slow.maxBytes),
    uploadTarget: async () => null,
    downloadTarget: async () => null,
    write: (id, bytes, about) => staging.write(id, bytes, about),
    async read(key, range) {
      return (await staging.read(key, range)) ?? atSlow(key, (ref) => slow.read(ref, range))
    },
    async stat(key) {
      return (await staging.stat(key)) ?? atSlow(key, (ref) => slow.stat(ref))
    },
    async absent(keys) {
      const absent = await staging.absent(keys)
      const refs = each(await refsOf(keys.filter(({ id }) => absent.has(id))))
      const askInTurn = async () => {
        for (const [id, ref] of refs) if (await slow.stat(ref)) absent.delete(id)
      }
      await Promise.all(Array.from({ length: ASK_AT_ONCE }, askInTurn))
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

/** A generator: who fails leaves its loop, which ends it for all others. */
function* each<Item>(items: Iterable<Item>): Generator<Item> {
  yield* items
}
