import type { Provider } from '@svc/api/purchases'
import type { StorageConfig } from '../storage-settings.ts'
import { openDrivers, type ProviderSettings } from './drivers.ts'
import { openLocalProvider } from './local.ts'
import type { StorageProvider } from './provider.ts'
import type { SlowStore } from './slow-store.ts'

export interface Providers {
  /** Every provider that is sold. */
  named(name: string): StorageProvider
  /** Where the bytes of a provider that takes its time move on to; null for all others. */
  slow(name: string): SlowStore | null
  isHealthy(): Promise<boolean>
  /** Lets go of connections, where there are some. */
  close?(): Promise<void>
}

export async function openProviders(
  { drivers, localFolder }: StorageConfig,
  settings: ProviderSettings,
): Promise<Providers> {
  const local = await openLocalProvider({ folder: localFolder })
  const own = await openDrivers(settings)
  const opened = new Map(Object.keys(drivers).map((name) => [name, own.get(name) ?? local]))
  return {
    named(name) {
      const provider = opened.get(name)
      if (!provider) throw new Error(`a locker is kept at ${name}, which is not configured any more`)
      return provider
    },
    slow: () => null,
    async isHealthy() {
      const answers = await Promise.all([...new Set(opened.values())].map((provider) => provider.check()))
      return answers.every(Boolean)
    },
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
