import { setTimeout as pause } from 'node:timers/promises'
import { refreshing } from '@svc/concurrency/caches'
import type { StorageProvider } from './provider.ts'

/** Whether each provider, by its name, takes and gives bytes; as of a few seconds ago. */
export type ProviderHealth = () => Promise<ReadonlyMap<string, boolean>>

const KEPT_MS = 10_000
/** A provider that does not answer so soon is none that one would sell. */
const CHECK_WITHIN_MS = 3_000
/** Nobody waits long for one that hangs: what was known before does for a moment more. */
const WAIT_MS = 300

export function watchHealth(opened: ReadonlyMap<string, StorageProvider>, now: () => number): ProviderHealth {
  const find = async () => {
    // Several names may be kept by one and the same.
    const checks = new Map([...new Set(opened.values())].map((provider) => [provider, isHealthy(provider)]))
    const entries = [...opened].map(async ([name, provider]) => [name, (await checks.get(provider)) ?? false] as const)
    return new Map(await Promise.all(entries))
  }
  const first = find()
  const known = refreshing({ load: find, freshMs: () => KEPT_MS, waitMs: WAIT_MS, now })
  return async () => (await known()) ?? first
}

async function isHealthy(provider: StorageProvider): Promise<boolean> {
  const check = provider.check().catch(() => false)
  return Promise.race([check, pause(CHECK_WITHIN_MS, false, { ref: false })])
}
