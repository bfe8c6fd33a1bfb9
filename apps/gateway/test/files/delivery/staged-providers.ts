// A staging folder in front of a slow server, as the providers of a gateway.

import { onlyProvider } from '@svc/devnet/services/only-provider'
import { openLocalProvider } from '@svc/storage/local'
import type { Providers } from '@svc/storage/open-providers'
import type { SlowStore } from '@svc/storage/slow-store'
import { openStagedProvider } from '@svc/storage/staged'
import { openTestSlowStore } from '@svc/storage/test/slow-store'
import type { Db } from '../../../src/db/schema.ts'
import { findRefs } from '../../../src/files/delivery/store.ts'

export interface StagedOptions {
  folder: string
  url: string
  db(): Db
  /** Wraps the store that talks to the server. */
  wrap?: ((slow: SlowStore) => SlowStore) | undefined
  maxBytes?: number | undefined
}

/** Only lockers at `arweave` are delivered. */
export async function openStagedProviders(options: StagedOptions): Promise<Providers> {
  const { folder, url, db, wrap = (slow) => slow, maxBytes } = options
  const slow = wrap({ ...openTestSlowStore(url), ...(maxBytes !== undefined && { maxBytes }) })
  const staging = await openLocalProvider({ folder })
  const provider = openStagedProvider({ staging, slow, findRefs: (ids) => findRefs(db(), ids) })
  return { ...onlyProvider(provider), slow: (name) => (name === 'arweave' ? slow : null) }
}
