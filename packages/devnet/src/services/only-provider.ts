// The providers of a gateway that has only one, under every name.

import { PROVIDERS } from '@svc/api/providers'
import type { Providers } from '@svc/storage/open-providers'
import type { StorageProvider } from '@svc/storage/provider'

export function onlyProvider(provider: StorageProvider): Providers {
  return {
    named: () => provider,
    slow: () => null,
    isUp: () => provider.check(),
    async health() {
      const isHealthy = await provider.check()
      return new Map(PROVIDERS.map((name) => [name, isHealthy]))
    },
  }
}
