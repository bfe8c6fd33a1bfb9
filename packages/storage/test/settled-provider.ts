import { rm } from 'node:fs/promises'
import { openLocalProvider } from '../src/local/open.ts'
import type { StorageProvider } from '../src/provider.ts'
import type { SlowStore } from '../src/slow-store.ts'
import { openStagedProvider } from '../src/staged.ts'
import { makeFolder } from './local/open-folder.ts'
import { settleStaged } from './slow-store.ts'

/** A staged provider whose objects up to a size have settled when they are written. */
export async function openSettledProvider(slow: SlowStore, closeSlow: () => Promise<void>, maxSettledBytes = Infinity) {
  const folder = await makeFolder()
  const staging = await openLocalProvider({ folder })
  const staged = openStagedProvider({ staging, slow, findRefs: async () => new Map() })
  const provider: StorageProvider = {
    ...staged,
    async write(id, bytes, about) {
      const { size } = await staged.write(id, bytes, about)
      if (size > maxSettledBytes) return { size, ref: null }
      const ref = await settleStaged(slow, staging, id, about.contentType)
      await staging.remove({ id, ref: null })
      return { size, ref }
    },
  }
  return {
    provider,
    async close() {
      await rm(folder, { recursive: true })
      await closeSlow()
    },
  }
}
