import { rm } from 'node:fs/promises'
import { openLocalProvider } from '../src/local/open.ts'
import type { StorageProvider } from '../src/provider.ts'
import type { SlowStore } from '../src/slow-store.ts'
import { openStagedProvider } from '../src/staged.ts'
import { makeFolder } from './local/open-folder.ts'
import { deliverStaged } from './slow-store.ts'

/** A staged provider whose objects are delivered when they are written. */
export async function openDeliveredProvider(slow: SlowStore, closeSlow: () => Promise<void>) {
  const folder = await makeFolder()
  const staging = await openLocalProvider({ folder })
  const staged = openStagedProvider({ staging, slow, findRefs: async () => new Map() })
  const provider: StorageProvider = {
    ...staged,
    async write(id, bytes, about) {
      const { size } = await staged.write(id, bytes, about)
      const ref = await deliverStaged(slow, staging, id, about.contentType)
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
