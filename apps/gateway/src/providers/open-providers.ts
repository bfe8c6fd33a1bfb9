import type { Provider } from '@svc/api/purchases'
import type { StorageConfig } from '../storage-settings.ts'
import { openLocalProvider } from './local.ts'
import type { StorageProvider } from './provider.ts'
import type { SlowStore } from './slow-store.ts'

export interface Providers {
  /** Every provider that is sold. */
  named(name: string): StorageProvider
  /** Where the bytes of a provider that takes its time move on to; null for all others. */
  slow(name: string): SlowStore | null
  isHealthy(): Promise<boolean>
}

export async function openProviders({ drivers, localFolder }: StorageConfig): Promise<Providers> {
  const local = await openLocalProvider({ folder: localFolder })
  const opened = new Map<string, StorageProvider>(Object.keys(drivers).map((name) => [name, local]))
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
  }
}

/** What short-URL tokens say in place of a provider's name (AMB-21). Never renumbered: tokens are out there. */
const CODES: Record<Provider, number> = { gcs: 1, mongodb: 2, storj: 3, arweave: 4, filecoin: 5, firestore: 6 }

export function providerCode(name: string): number {
  return CODES[name as Provider]
}
