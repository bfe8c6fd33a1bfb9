// For tests: the local driver, whose reads can be counted, held and made to fail.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLocalProvider } from '@svc/storage/local'
import type { Providers } from '@svc/storage/open-providers'
import { ProviderError } from '@svc/storage/provider'
import { onlyProvider } from '@svc/testbed/only-provider'

export interface WatchedStorage {
  providers: Providers
  readonly reads: number
  /** Makes reads wait until `letGo`. */
  hold(): void
  letGo(): void
  /** Resolves when this many reads wait. */
  waiting(count: number): Promise<void>
  /** Makes the next read fail. */
  failOnce(): void
  remove(): Promise<void>
}

export async function openWatchedStorage(): Promise<WatchedStorage> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-watched-'))
  const local = await openLocalProvider({ folder })
  let reads = 0
  let failsNext = false
  let gate: PromiseWithResolvers<void> | null = null
  let held = 0
  const watchers: { count: number; resolve: () => void }[] = []
  const provider: typeof local = {
    ...local,
    async read(key, range) {
      reads++
      if (gate) {
        held++
        for (const { count, resolve } of watchers) if (held >= count) resolve()
        await gate.promise
      }
      if (failsNext) {
        failsNext = false
        throw new ProviderError('unavailable', new Error('simulated failure'))
      }
      return local.read(key, range)
    },
  }
  return {
    providers: onlyProvider(provider),
    get reads() {
      return reads
    },
    hold() {
      gate = Promise.withResolvers()
    },
    letGo() {
      gate?.resolve()
      gate = null
      held = 0
    },
    waiting: (count) =>
      new Promise((resolve) => {
        if (held >= count) resolve()
        else watchers.push({ count, resolve })
      }),
    failOnce() {
      failsNext = true
    },
    remove: () => rm(folder, { recursive: true }),
  }
}
