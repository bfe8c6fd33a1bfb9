import type { Provider } from '@svc/api/providers'
import { openDirect, openSlow, type ProviderSettings } from './drivers.ts'
import { openLocalProvider } from './local/open.ts'
import type { StorageProvider } from './provider.ts'
import type { SlowStore } from './slow-store.ts'
import { type FindRefs, openStagedProvider } from './staged.ts'
import { type ProviderHealth, watchHealth } from './watch-health.ts'

/** The providers that a gateway sells. */
export interface Providers extends ProviderHealth {
  named(name: string): StorageProvider
  /** The store for the staged bytes of a slow provider; null for all others. */
  slow(name: string): SlowStore | null
  /** Closes connections. */
  close?(): Promise<void>
}

/** The location of the stored bytes. */
export interface ProvidersConfig {
  /** The providers that are sold, and the stores of their bytes: a local folder, or the provider's own driver. */
  drivers: Partial<Record<Provider, 'local' | 'own'>>
  localFolder: string
  /** Holds the bytes of slow providers until they are delivered; all gateways of one database share it. */
  stagingFolder: string
}

interface ProvidersOptions {
  storage: ProvidersConfig
  settings: ProviderSettings
  findRefs: FindRefs
  now: () => number
}

export async function openProviders({ storage, settings, findRefs, now }: ProvidersOptions): Promise<Providers> {
  const local = await openLocalProvider({ folder: storage.localFolder })
  const slow = await openSlow(settings)
  const own = await openDirect(settings)
  if (slow.size > 0) {
    const staging = await openLocalProvider({ folder: storage.stagingFolder })
    for (const [name, store] of slow) own.set(name, openStagedProvider({ staging, slow: store, findRefs }))
  }
  const opened = new Map<string, StorageProvider>()
  for (const [name, driver] of Object.entries(storage.drivers)) {
    const provider = driver === 'local' ? local : own.get(name as Provider)
    if (!provider) throw new Error(`${name} is sold, but no driver was opened to store its bytes`)
    opened.set(name, provider)
  }
  return {
    named(name) {
      const provider = opened.get(name)
      if (!provider) throw new Error(`a locker is stored at ${name}, which is no longer configured`)
      return provider
    },
    slow: (name) => slow.get(name as Provider) ?? null,
    ...watchHealth(opened, now),
    async close() {
      await Promise.all([...opened.values()].map((provider) => provider.close?.()))
    },
  }
}
