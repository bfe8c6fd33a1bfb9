import { setTimeout as pause } from 'node:timers/promises'
import { refreshing } from '@svc/concurrency/caches'
import type { StorageProvider } from './provider.ts'

/** Whether each provider, by its name, could store and return bytes a few seconds ago. */
export type ProviderHealth = () => Promise<ReadonlyMap<string, boolean>>

const FRESH_MS = 10_000
/** A provider that takes longer to answer counts as down. */
const CHECK_WITHIN_MS = 3_000
/** Callers wait no longer for a check; after that they get the previous answer. */
const WAIT_MS = 300

export function watchHealth(opened: ReadonlyMap<string, StorageProvider>, now: () => number): ProviderHealth {
  const find = async () => {
    // Several names may share one provider.
    const checks = new Map([...new Set(opened.values())].map((provider) => [provider, isHealthy(provider)]))
    const entries = [...opened].map(async ([name, provider]) => [name, (await checks.get(provider)) ?? false] as const)
    return new Map(await Promise.all(entries))
  }
  const first = find()
  const known = refreshing({ load: find, freshMs: () => FRESH_MS, waitMs: WAIT_MS, now })
  return async () => (await known()) ?? first
}

async function isHealthy(provider: StorageProvider): Promise<boolean> {
  const check = provider.check().catch(() => false)
  return Promise.race([check, pause(CHECK_WITHIN_MS, false, { ref: false })])
}
