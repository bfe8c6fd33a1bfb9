// For tests: a folder before a slow server, as the providers of a gateway.

import { onlyProvider } from '@svc/testbed/only-provider'
import type { Db } from '../../db/schema.ts'
import { openLocalProvider } from '../../providers/local.ts'
import type { Providers } from '../../providers/open-providers.ts'
import type { SlowStore } from '../../providers/slow-store.ts'
import { openStagedProvider } from '../../providers/staged.ts'
import { openTestSlowStore } from '../../providers/test-slow-store.ts'
import { findRefs } from './store.ts'

export interface StagedOptions {
  folder: string
  url: string
  db(): Db
  /** Around what goes to the server. */
  wrap?: ((slow: SlowStore) => SlowStore) | undefined
  maxBytes?: number | undefined
}

/** Lockers at `arweave` settle; what others are staged for is no matter. */
export async function openStagedProviders(options: StagedOptions): Promise<Providers> {
  const { folder, url, db, wrap = (slow) => slow, maxBytes } = options
  const slow = wrap({ ...openTestSlowStore(url), ...(maxBytes !== undefined && { maxBytes }) })
  const staging = await openLocalProvider({ folder })
  const provider = openStagedProvider({ staging, slow, findRefs: (ids) => findRefs(db(), ids) })
  return {
    ...onlyProvider(provider),
    slow: (name) => (name === 'arweave' ? slow : null),
  }
}
