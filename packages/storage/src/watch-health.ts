import { setTimeout as pause } from 'node:timers/promises'
import { refreshing } from '@svc/concurrency/caches'
import type { StorageProvider } from './provider.ts'

/** Whether providers, by their names, could store and return bytes a few seconds ago. */
export interface ProviderHealth {
  isUp(name: string): Promise<boolean>
  health(): Promise<ReadonlyMap<string, boolean>>
}

const FRESH_MS = 10_000
/** A provider that takes longer to answer counts as down. */
const CHECK_WITHIN_MS = 3_000
/** Callers wait no longer than this for a check; after that they get the previous answer. */
const WAIT_MS = 300
/** Until a provider has answered once, its checks may take longer and are repeated sooner, because startup is slow. */
const STARTING = { withinMs: 15_000, freshMs: 1_000 }

export function watchHealth(opened: ReadonlyMap<string, StorageProvider>, now: () => number): ProviderHealth {
  // Several names may share one provider.
  const watched = new Map([...new Set(opened.values())].map((provider) => [provider, watchProvider(provider, now)]))
  const checks = new Map([...opened].map(([name, provider]) => [name, watched.get(provider) as () => Promise<boolean>]))
  return {
    isUp: async (name) => checks.get(name)?.() ?? false,
    health: async () =>
      new Map(await Promise.all([...checks].map(async ([name, check]) => [name, await check()] as const))),
  }
}

function watchProvider(provider: StorageProvider, now: () => number): () => Promise<boolean> {
  let hasAnswered = false
  async function check(): Promise<boolean> {
    const isUp = await within(hasAnswered ? CHECK_WITHIN_MS : STARTING.withinMs, provider.check())
    hasAnswered ||= isUp
    return isUp
  }
  const first = check()
  let checks = 0
  const known = refreshing({
    load: () => (checks++ === 0 ? first : check()),
    freshMs: () => (hasAnswered ? FRESH_MS : STARTING.freshMs),
    waitMs: WAIT_MS,
    now,
  })
  return async () => (await known()) ?? within(CHECK_WITHIN_MS, first)
}

function within(ms: number, check: Promise<boolean>): Promise<boolean> {
  return Promise.race([check.catch(() => false), pause(ms, false, { ref: false })])
}
