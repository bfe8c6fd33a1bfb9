import type { Provider } from '@svc/api/purchases'
import { openDrivers, openSlowStores, type ProviderSettings } from './drivers.ts'
import { openLocalProvider } from './local/open.ts'
import type { StorageProvider } from './provider.ts'
import type { SlowStore } from './slow-store.ts'
import { type FindRefs, openStagedProvider } from './staged.ts'
import { type ProviderHealth, watchHealth } from './watch-health.ts'

export interface Providers {
  /** Every provider that is sold. */
  named(name: string): StorageProvider
  /** Where the bytes of a provider that takes its time move on to; null for all others. */
  slow(name: string): SlowStore | null
  health: ProviderHealth
  /** Lets go of connections, where there are some. */
  close?(): Promise<void>
}

export interface ProvidersOptions {
  storage: {
    /** What is sold, and by which driver its bytes are kept. */
    drivers: Partial<Record<Provider, 'local' | 'own'>>
    localFolder: string
    /** Where bytes wait for a provider that takes its time; all gateways of one database share it. */
    stagingFolder: string
  }
  settings: ProviderSettings
  findRefs: FindRefs
  now: () => number
}

export async function openProviders({ storage, settings, findRefs, now }: ProvidersOptions): Promise<Providers> {
  const local = await openLocalProvider({ folder: storage.localFolder })
  const slow = await openSlowStores(settings)
  const own = await openDrivers(settings)
  if (slow.size > 0) {
    const staging = await openLocalProvider({ folder: storage.stagingFolder })
    for (const [name, store] of slow) own.set(name, openStagedProvider({ staging, slow: store, findRefs }))
  }
  const opened = new Map(Object.keys(storage.drivers).map((name) => [name, own.get(name) ?? local]))
  return {
    named(name) {
      const provider = opened.get(name)
      if (!provider) throw new Error(`a locker is kept at ${name}, which is not configured any more`)
      return provider
    },
    slow: (name) => slow.get(name) ?? null,
    health: watchHealth(opened, now),
    async close() {
      await Promise.all([...opened.values()].map((provider) => provider.close?.()))
    },
  }
}

/** What short-URL tokens say in place of a provider's name (AMB-21). Never renumbered: tokens are out there. */
const CODES: Record<Provider, number> = { gcs: 1, mongodb: 2, storj: 3, arweave: 4, filecoin: 5, firestore: 6 }

export function providerCode(name: string): number {
  return CODES[name as Provider]
}
